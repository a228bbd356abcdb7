// Package control is how a command talks to the supervisor of a running cluster: HTTP on a unix
// socket that only the owner can reach.
//
//	GET  /status                     the state as JSON
//	POST /down                       ends the cluster; the answer comes before the end
//	POST /components/NAME/ACTION     start, stop or restart; answers when it is done
//
// An error is answered as {"error": "..."}.
package control
