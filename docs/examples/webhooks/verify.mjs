// Verify a webhook delivery: Node 18 or newer, no dependencies.
import { createHmac, timingSafeEqual } from "node:crypto";

const TOLERANCE = 5 * 60; // seconds: reject older deliveries (replay attacks)

/** Returns the event or throws an Error. `headers` have lower-case names, `body` is a Buffer with the raw request body. */
export function verify(secret, headers, body, now = Date.now() / 1000) {
  const id = headers["webhook-id"] ?? "";
  const timestamp = headers["webhook-timestamp"] ?? "";
  if (!/^[0-9]+$/.test(timestamp)) throw new Error("missing or invalid timestamp");
  if (Math.abs(now - Number(timestamp)) > TOLERANCE) throw new Error("the timestamp is more than five minutes off");
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const expected = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest();
  // During a secret rotation there are two signatures, separated by a space.
  for (const signature of (headers["webhook-signature"] ?? "").split(" ")) {
    const [version, encoded = ""] = signature.split(",", 2);
    const given = Buffer.from(encoded, "base64");
    if (version === "v1" && given.length === expected.length && timingSafeEqual(given, expected)) {
      return JSON.parse(body.toString("utf8"));
    }
  }
  throw new Error("no matching signature");
}
