/**
 * Loaded before an app by the embedded start. The channel to the parent closes when the parent ends, whatever ended
 * it; then the app stops in good order, as if it had been told to.
 */
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'));
// The channel alone is no reason to go on living.
process.channel?.unref();

export {};
