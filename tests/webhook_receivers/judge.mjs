// What docs/examples/webhooks/verify.mjs (its path is the argument) says of each delivery on standard input.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { verify } = await import(pathToFileURL(process.argv[2]).href);
const verdicts = JSON.parse(readFileSync(0, "utf8")).map(({ secret, body, headers }) => {
  try {
    return verify(secret, headers, Buffer.from(body, "base64"));
  } catch (error) {
    return error.message;
  }
});
console.log(JSON.stringify(verdicts));
