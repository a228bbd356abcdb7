// Package leader has no code: its tests run several processes of an operator that compete for one Lease on a real API
// server. They kill and freeze the leader, and check the writes of each process.
package leader
