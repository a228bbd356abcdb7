// Package control connects commands with the supervisor of a running cluster: HTTP on a unix socket that only the owner
// can reach.
//
//	GET  /status                     the state as JSON
//	POST /down                       ends the cluster; the answer comes before the end
//	POST /components/NAME/ACTION     start, stop or restart; answers when it is done
//
// The response for an error is {"error": "..."}.
package control
