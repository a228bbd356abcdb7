// Package protocol has the requests and responses of hooks, as metacontroller defines them: JSON objects about one
// parent. It has no client, and knows nothing of HTTP.
package protocol
