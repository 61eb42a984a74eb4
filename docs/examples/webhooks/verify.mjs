// Verify a webhook's delivery: Node 18 or newer, nothing to install.
import { createHmac, timingSafeEqual } from "node:crypto";

const TOLERANCE = 5 * 60; // seconds: an older delivery may be somebody's replay

/** The event, or an Error. `headers` by lower-case name, `body` a Buffer with the raw bytes as they came. */
export function verify(secret, headers, body, now = Date.now() / 1000) {
  const id = headers["webhook-id"] ?? "";
  const timestamp = headers["webhook-timestamp"] ?? "";
  if (!/^[0-9]+$/.test(timestamp)) throw new Error("no timestamp");
  if (Math.abs(now - Number(timestamp)) > TOLERANCE) throw new Error("too old, or from the future");
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const expected = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest();
  // While a secret is being rotated there are two signatures, with a space between.
  for (const signature of (headers["webhook-signature"] ?? "").split(" ")) {
    const [version, encoded = ""] = signature.split(",", 2);
    const given = Buffer.from(encoded, "base64");
    if (version === "v1" && given.length === expected.length && timingSafeEqual(given, expected)) {
      return JSON.parse(body.toString("utf8"));
    }
  }
  throw new Error("no signature of ours");
}
