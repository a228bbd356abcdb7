// Package kopf reads what kopf's operators keep on objects, so that an operator that takes over from one of them knows
// what was handled. It writes nothing: operators of this package have a record of their own.
package kopf
