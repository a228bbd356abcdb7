// Package movedfromoper8 has no code: its tests hold what a session of an operator that was written with oper8 relies
// on against a real API server.
package movedfromoper8
