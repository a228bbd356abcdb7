// Package process starts child processes that don't outlive this one, and stops them.
//
// A Spawner starts them from one thread that lives as long as they do: Linux's parent death signal follows the thread
// that forked, not the process. A Process is a started child: it has a log, and can be waited for, and stopped with a
// deadline. This package never restarts a process; package cluster does.
package process
