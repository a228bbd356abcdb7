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

// ownTrouble reports whether a refusal is about a failure of the API server, or of something that it called, and not
// about the request, which may be accepted later. Codes above 500 are, and so are refusals that pass such a failure on,
// for example because the allocator of a Service's addresses can't reach the API server. Only the text shows that; the
// worst that a wrong guess does is send a request again.
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
		if status.Details != nil && slices.ContainsFunc(status.Details.Causes, isInternal) {
			return true
		}
	default:
		return status.Code > http.StatusInternalServerError || status.Code == http.StatusRequestTimeout
	}
	text := quoted.ReplaceAllString(status.Message, "")
	return slices.ContainsFunc(troubles, func(trouble string) bool { return strings.Contains(text, trouble) })
}

func isInternal(cause metav1.StatusCause) bool {
	return cause.Type == metav1.CauseType(field.ErrorTypeInternal)
}

// quoted matches the values of the object that a refusal cites, which may contain any text.
var quoted = regexp.MustCompile("\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`")

// troubles are the texts of Go, gRPC and etcd for a connection that fails, and of an API server that starts or is
// overloaded.
var troubles = []string{
	"dial tcp ", "dial unix ", ": connection refused", "connection reset by peer", "i/o timeout", "broken pipe", "unexpected EOF", ": EOF",
	"TLS handshake timeout", "no route to host", "network is unreachable", ": no such host", "http2: ", "client connection lost", "transport is closing",
	"use of closed network connection", "Client.Timeout exceeded", "context deadline exceeded", "context canceled",
	"rpc error: code = Unavailable", "rpc error: code = DeadlineExceeded", "etcdserver: request timed out", "etcdserver: leader changed",
	"etcdserver: no leader", "etcdserver: too many requests", "etcdserver: mvcc: database space exceeded",
	"not yet ready to handle request", "cannot allocate resources of type serviceipallocations at this time",
}
