// Package movedfromoper8 has no code: its tests check on a real API server the behaviour that operators moved from
// oper8 rely on in a session.
package movedfromoper8
