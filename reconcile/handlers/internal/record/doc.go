// Package record keeps what an operator has handled of an object in one annotation of the object: its essence, the
// progress of the handlers that haven't ended, and when crons were called.
package record
