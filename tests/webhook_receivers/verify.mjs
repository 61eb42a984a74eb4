// What the library of Standard Webhooks says of each delivery on standard input: null, or the name of its error.
import { readFileSync } from "node:fs";
import { Webhook } from "standardwebhooks";

const deliveries = JSON.parse(readFileSync(0, "utf8"));
const verdicts = deliveries.map(({ secret, body, headers }) => {
  try {
    new Webhook(secret).verify(Buffer.from(body, "base64"), headers);
    return null;
  } catch (error) {
    return error.constructor.name;
  }
});
console.log(JSON.stringify(verdicts));
