// Package leader has no code: its tests let several processes of an operator stand for one Lease of a real API
// server, kill and freeze the one that leads, and look at what each of them wrote.
package leader
