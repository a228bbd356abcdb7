package proxy

import (
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// refusal is the response to a request that isn't forwarded.
type refusal struct {
	code    int
	reason  metav1.StatusReason
	message string
}

// Error returns the message.
func (r *refusal) Error() string { return r.message }

func refuse(code int, reason metav1.StatusReason, format string, args ...any) *refusal {
	return &refusal{code, reason, fmt.Sprintf(format, args...)}
}

func badRequest(format string, args ...any) *refusal {
	return refuse(http.StatusBadRequest, metav1.StatusReasonBadRequest, format, args...)
}

func forbidden(format string, args ...any) *refusal {
	return refuse(http.StatusForbidden, metav1.StatusReasonForbidden, format, args...)
}

// respond writes the refusal as a metav1.Status.
func (r *refusal) respond(w http.ResponseWriter) {
	body := encode(metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
		Code: int32(r.code), Reason: r.reason, Message: "hooks proxy: " + r.message,
	})
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if r.code == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "1")
	}
	w.WriteHeader(r.code)
	_, _ = w.Write(body) // the caller may have gone
}
