// Package record keeps what an operator has handled of an object in one annotation of the object: its essence, and the
// progress of the handlers that haven't ended.
package record
