// Package heartbeat proves by a file that a process makes progress: [Run] writes the time into the file at intervals
// while the process is alive, and [Check] returns an error if the time isn't recent.
//
//	go heartbeat.Run(ctx, "/tmp/heartbeat", heartbeat.DefaultPeriod, alive, logger)
//	...
//	err := heartbeat.Check("/tmp/heartbeat", time.Minute, time.Now()) // in the command of a liveness probe
//
// A standby replica writes the file too, as long as alive returns nil. Run writes the time into FILE.new and renames
// that to FILE, so that nobody reads a half-written file. The time is UTC.
//
// # When to use it
//
// Use it for probes that run a command in the container. An HTTP probe needs no file.
package heartbeat
