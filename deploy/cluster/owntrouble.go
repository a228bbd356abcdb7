package cluster

import (
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ownTrouble reports whether an error is a failure of the API server, or of something that it called. Then the same
// request may succeed later. All codes above 500 are such failures. Some refusals are caused by such a failure, too,
// for example if the allocator of Service addresses can't reach the API server. Mostly only the text of the error shows
// this. If the guess is wrong, the request is retried, with no other effect.
func ownTrouble(err error) bool {
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) || unknownField(answer) || tooLarge(answer) {
		return false
	}
	status := answer.Status()
	switch status.Code {
	case http.StatusInternalServerError:
		if status.Reason == metav1.StatusReasonStoreReadError {
			return true
		}
	case http.StatusUnprocessableEntity, http.StatusForbidden:
		if apierrors.HasStatusCause(err, metav1.CauseType(field.ErrorTypeInternal)) {
			return true
		}
	default:
		return status.Code > http.StatusInternalServerError || status.Code == http.StatusRequestTimeout
	}
	text := quoted.ReplaceAllString(status.Message, "")
	return slices.ContainsFunc(troubles, func(trouble string) bool { return strings.Contains(text, trouble) })
}

// quoted matches quoted texts in an error. They may be values of the object, with any content.
var quoted = regexp.MustCompile("\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`")

// troubles are messages of Go, gRPC and etcd about failed connections, and of an API server that is starting or
// overloaded.
var troubles = []string{
	"dial tcp ", "dial unix ", ": connection refused", "connection reset by peer", "i/o timeout", "broken pipe", "unexpected EOF", ": EOF",
	"TLS handshake timeout", "no route to host", "network is unreachable", ": no such host", "http2: ", "client connection lost", "transport is closing",
	"use of closed network connection", "Client.Timeout exceeded", "context deadline exceeded", "context canceled",
	"rpc error: code = Unavailable", "rpc error: code = DeadlineExceeded", "etcdserver: request timed out", "etcdserver: leader changed",
	"etcdserver: no leader", "etcdserver: too many requests", "etcdserver: mvcc: database space exceeded",
	"not yet ready to handle request", "cannot allocate resources of type serviceipallocations at this time",
}
