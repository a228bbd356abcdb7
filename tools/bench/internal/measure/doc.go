// Package measure runs one operator through one round: start, burst, rest, restart, drift, update, deletion. It
// measures from outside, by the audit log, the kernel and a watch of the Bundles, in the same way for every operator.
package measure
