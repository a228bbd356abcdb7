// Package webhook calls a hook by HTTP: one POST of JSON, and the JSON of the response. A hook is a stranger's program:
// the time and the size of a response are bounded, a redirect isn't followed, and credentials go only to the address
// that was configured.
package webhook
