package status

import (
	"unicode"
	"unicode/utf8"
)

// The values of the service status.
const (
	serviceCompleted  = "Completed"
	serviceInProgress = "InProgress"
	serviceFailed     = "Failed"
)

// setService keeps the service status of the kind up to date. A value that is
// none of ours belongs to the service itself.
//
// spec: status 7
func (a Application) setService(next map[string]any, ready ReadyReason, updating UpdatingReason) {
	if a.Kind == "" {
		return
	}
	key := serviceKey(a.Kind)
	switch next[key] {
	case nil, serviceCompleted, serviceInProgress, serviceFailed:
		next[key] = serviceStatus(ready, updating)
	}
}

// serviceKey lowers only the first letter: HTTPServer gives hTTPServerStatus.
func serviceKey(kind string) string {
	first, size := utf8.DecodeRuneInString(kind)
	return string(unicode.ToLower(first)) + kind[size:] + "Status"
}

func serviceStatus(ready ReadyReason, updating UpdatingReason) string {
	switch {
	case ready == "" || updating == "":
		return serviceInProgress
	case ready == ReadyStable && updating == UpdatingStable:
		return serviceCompleted
	case ready == ReadyErrored || ready == ReadyConfigError,
		updating == UpdatingErrored || updating == UpdatingClusterError:
		return serviceFailed
	}
	return serviceInProgress
}
