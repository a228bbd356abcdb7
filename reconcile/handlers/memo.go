package handlers

import "reflect"

// Memo returns a value that the process keeps for the object of a request as long as the object exists and is watched:
// handlers of Seen get it with the event of the deletion for the last time. There is one value for each type M, the
// zero value at first. All handlers of the object share it; if one of them is a daemon, the value needs a lock of its
// own. It is lost when the process ends.
func Memo[M, T any](r *Request[T]) *M {
	return r.attempt.Memo(reflect.TypeFor[M](), func() any { return new(M) }).(*M)
}
