// Package process starts child processes that don't outlive this one, and stops them.
//
// A Spawner starts them from one thread that lives as long as they do: Linux's parent death signal
// follows the thread that forked, not the process. A Process is a started child: its log, its end,
// and a stop with a deadline. It restarts nothing; package cluster decides that.
package process
