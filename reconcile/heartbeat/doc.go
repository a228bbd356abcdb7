// Package heartbeat proves by a file that a process makes progress: [Run] writes the time into it, again and again, for
// as long as all is well, and [Check] tells whether that was not too long ago.
//
//	go heartbeat.Run(ctx, "/tmp/heartbeat", alive)
//	...
//	err := heartbeat.Check("/tmp/heartbeat", time.Minute, time.Now()) // in the command of a liveness probe
//
// A beat says what alive says, and nothing of who asks: on a replica that waits for its turn to lead alive has nothing to
// object to, so it beats too. The file is renamed into place, so that nobody reads half of one; its time is UTC (spec:
// watch 38, mistake 20). Beside it the next one is written as FILE.new.
//
// # When to use it
//
// Use it for probes that run a command in the container. Where an HTTP probe will do, that needs no file.
package heartbeat
