// Part 10: rejections that nobody handled. The engine tells of each rejected promise without a handler, and of a handler
// that comes later; what is left when the script ends becomes warnings.

const MAX_REJECTIONS = 10_000;
const WARNING_CHARS = 1_000;

// Promise -> reason.
const rejections = new RealMap();

function rejected(promise, reason) {
  if (active && rejections.size < MAX_REJECTIONS) rejections.set(promise, reason);
}

function handled(promise) {
  rejections.delete(promise);
}

// Texts of the first ones. Describing a reason may need more memory than there is left; the end must come anyhow.
function describeRejections() {
  const shown = [];
  for (const reason of rejections.values()) {
    if (shown.length === limits.warnings) break;
    try {
      shown[shown.length] = describe(reason, script.lines).message.slice(0, WARNING_CHARS);
    } catch {
      break;
    }
  }
  return shown;
}
