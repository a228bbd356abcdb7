// Package measure is what one operator goes through in one round: start, burst, rest, restart, drift, update, deletion.
// All of it is seen from outside, by the audit log, the kernel and a watch of the Bundles, and the same for every
// operator.
package measure
