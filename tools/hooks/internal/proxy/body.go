package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// maxBody bounds the body of a request, in bytes: the API server takes no larger one.
	maxBody = 3 << 20
	// maxBodies bounds the bodies of one run that are in memory at the same time.
	maxBodies = 8
	// maxYAML bounds a body in YAML, which may grow when it is decoded, in bytes.
	maxYAML = 1 << 20
)

const (
	typeJSON     = "application/json"
	typeYAML     = "application/yaml"
	typeProtobuf = "application/vnd.kubernetes.protobuf"
	typeApply    = "application/apply-patch+yaml"
)

// whole are the types of bodies with a whole object or with options. patches are those of a PATCH.
var (
	whole   = []string{typeJSON, typeYAML, typeProtobuf}
	patches = []string{typeApply, typeJSONPatch, "application/merge-patch+json", "application/strategic-merge-patch+json"}
)

// hold waits until the run may have another body in memory.
func (c *call) hold(ctx context.Context) *refusal {
	select {
	case c.access.bodies <- struct{}{}:
		c.holds = true
		return nil
	case <-ctx.Done():
		return refuse(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, "%s %s: %v", c.verb, c.target, context.Cause(ctx))
	}
}

// drop gives up the body, if the call has one.
func (c *call) drop() {
	if c.holds {
		<-c.access.bodies
	}
}

// read reads the body of a write.
func (c *call) read(w http.ResponseWriter, r *http.Request, limit time.Duration) *refusal {
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" {
		return refuse(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType, "Content-Encoding %s: send the body without an encoding", encoding)
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(limit)) // waiting for others doesn't count
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return tooLarge(maxBody)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return refuse(http.StatusRequestTimeout, metav1.StatusReasonTimeout, "the body wasn't complete within %s", limit)
	case err != nil:
		return badRequest("body: %v", err)
	}
	if c.access.ctx.Err() != nil { // its end may have come before the deadline was set
		return unauthorized
	}
	if c.contentType, err = mediaType(r); err != nil {
		return refuse(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType, "%s: %v", r.Method, err)
	}
	if len(body) > 0 {
		c.body = body
	}
	return nil
}

func tooLarge(limit int) *refusal {
	return refuse(http.StatusRequestEntityTooLarge, metav1.StatusReasonRequestEntityTooLarge, "the body is larger than %d bytes", limit)
}

// mediaType returns the type of the body of a request, without parameters.
func mediaType(r *http.Request) (string, error) {
	given, want := r.Header.Get("Content-Type"), whole
	switch {
	case r.Method == "PATCH":
		want = patches
	case given == "":
		return typeJSON, nil
	}
	found, _, err := mime.ParseMediaType(given)
	if err != nil || !slices.Contains(want, found) {
		return "", fmt.Errorf("the content type %q isn't supported: use one of %q", given, want)
	}
	return found, nil
}
