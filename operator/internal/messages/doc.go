// Package messages explains what an operator says: the reasons of conditions, of events and of readiness, the warnings
// and errors in its log, and the errors with a type of their own. The page operator/guide/messages.md, the command
// explain and the attribute help of the log are made of its table. `check messages` compares the page with the code.
package messages

//go:generate go run ./generate ../../guide/messages.md
