// Package filelock locks a file between processes with flock(2).
//
// The lock belongs to the open file, so it ends with the process that holds it, however that process ends: no lock is
// ever left behind. Use it where two processes must not do the same work at the same time; inside one process use a
// mutex. It works on Linux, macOS and the BSDs; on other systems every call returns [errors.ErrUnsupported].
package filelock
