package cluster_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/operkit/operkit/deploy/dryrun"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// trouble is what happens to the first requests of one verb in one operation, the same in both clusters.
type trouble struct {
	verb  dryrun.Verb
	code  int
	count int
	// lost: the request is carried out, and its answer replaced.
	lost bool
}

func (t *trouble) String() string {
	if t == nil {
		return ""
	}
	return fmt.Sprintf(" [%d x %s: %d lost=%v]", t.count, t.verb, t.code, t.lost)
}

// trouble draws some, or nil.
func (d *dice) trouble() *trouble {
	if !d.chance(30) {
		return nil
	}
	t := &trouble{
		verb:  pick(d, dryrun.VerbPatch, dryrun.VerbPatch, dryrun.VerbPatch, dryrun.VerbCreate, dryrun.VerbUpdate, dryrun.VerbDelete, dryrun.VerbGet, dryrun.VerbList),
		code:  pick(d, http.StatusConflict, http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable),
		count: 1 + d.IntN(2),
		lost:  d.chance(20),
	}
	if reads := t.verb == dryrun.VerbGet || t.verb == dryrun.VerbList; t.code == http.StatusConflict && (reads || t.lost) {
		t.code = http.StatusInternalServerError
	}
	return t
}

func (t *trouble) fault() dryrun.Fault {
	return dryrun.Fault{Verb: t.verb, Count: t.count, Code: t.code, Lost: t.lost}
}

// troubles is a transport that has requests fail before they reach the API server, or their answers lost
// on the way back. Watches, and the discovery of kinds, aren't met.
type troubles struct {
	mu   sync.Mutex
	left trouble
}

// meet has it happen from now on; nil ends it.
func (t *troubles) meet(next *trouble) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.left = trouble{}
	if next != nil {
		t.left = *next
	}
}

func (t *troubles) wrap(next http.RoundTripper) http.RoundTripper { return through{t, next} }

type through struct {
	*troubles
	next http.RoundTripper
}

func (t through) RoundTrip(request *http.Request) (*http.Response, error) {
	met, ok := t.take(verbOf(request))
	if ok && !met.lost {
		if request.Body != nil {
			_ = request.Body.Close()
		}
		return refusal(request, met.code)
	}
	response, err := t.next.RoundTrip(request)
	if err == nil && ok && response.StatusCode < http.StatusBadRequest {
		_, err = io.Copy(io.Discard, response.Body)
		if err = errors.Join(err, response.Body.Close()); err == nil {
			return refusal(request, met.code)
		}
	}
	return response, err
}

// take counts a request of a verb, and tells whether it is met.
func (t *troubles) take(verb dryrun.Verb) (trouble, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.left.count == 0 || t.left.verb != verb {
		return trouble{}, false
	}
	t.left.count--
	return t.left, true
}

// verbOf is the verb of a request for objects.
func verbOf(request *http.Request) dryrun.Verb {
	_, inNamespace, found := strings.Cut(request.URL.Path, "/namespaces/")
	if !found || request.URL.Query().Get("watch") != "" {
		return ""
	}
	switch request.Method {
	case http.MethodPost:
		return dryrun.VerbCreate
	case http.MethodPut:
		return dryrun.VerbUpdate
	case http.MethodPatch:
		return dryrun.VerbPatch
	case http.MethodDelete:
		return dryrun.VerbDelete
	}
	if strings.Count(inNamespace, "/") < 2 {
		return dryrun.VerbList
	}
	return dryrun.VerbGet
}

// refusal is what an API server says with a code.
func refusal(request *http.Request, code int) (*http.Response, error) {
	reason := map[int]metav1.StatusReason{
		http.StatusConflict:            metav1.StatusReasonConflict,
		http.StatusTooManyRequests:     metav1.StatusReasonTooManyRequests,
		http.StatusInternalServerError: metav1.StatusReasonInternalError,
		http.StatusServiceUnavailable:  metav1.StatusReasonServiceUnavailable,
	}[code]
	if code == http.StatusConflict && request.Method == http.MethodPost {
		reason = metav1.StatusReasonAlreadyExists
	}
	body, err := json.Marshal(metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Reason: reason, Code: int32(code), Message: "injected fault",
	})
	if err != nil {
		return nil, err
	}
	return &http.Response{
		Status: http.StatusText(code), StatusCode: code, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}, "Retry-After": {"0"}},
		Body:   io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Request: request,
	}, nil
}
