// Errors that nginx answers itself, in the API's envelope: a UUIDv7 as the request's ID, and the time in UTC.
const ERRORS = @@errors@@;
const FIELDS = @@error_fields@@;

function makeId() {
    const bytes = Buffer.alloc(16);
    crypto.getRandomValues(bytes);
    bytes.writeUIntBE(Date.now(), 0, 6);
    bytes[6] = (bytes[6] & 0x0f) | 0x70;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

function answer(r) {
    const error = ERRORS[r.uri.slice('/_error/'.length)];
    const id = makeId();
    for (const name in FIELDS) {
        r.headersOut[name] = FIELDS[name];
    }
    r.headersOut['X-Request-Id'] = id;
    r.headersOut['Content-Type'] = 'application/json';
    if (error.retry_after) {
        r.headersOut['Retry-After'] = String(error.retry_after);
    }
    r.return(error.status, JSON.stringify({
        data: null,
        error: {code: error.code, message: error.message, details: error.details},
        meta: {request_id: id, timestamp: new Date().toISOString()},
    }));
}

export default {answer};
