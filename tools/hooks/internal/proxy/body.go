package proxy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

const (
	// maxBody bounds the body of a request, in bytes: the API server takes no larger one.
	maxBody = 3 << 20
	// maxYAML bounds a body in YAML, which may grow when it is decoded, in bytes.
	maxYAML = 1 << 20
)

const (
	typeJSON  = "application/json"
	typeYAML  = "application/yaml"
	typeApply = "application/apply-patch+yaml"
)

// accepted are the types of bodies by method. Others, such as protobuf and CBOR, hide the owner.
var accepted = map[string][]string{
	"POST": {typeJSON, typeYAML}, "PUT": {typeJSON, typeYAML}, "DELETE": {typeJSON, typeYAML},
	"PATCH": {typeApply, "application/json-patch+json", "application/merge-patch+json", "application/strategic-merge-patch+json"},
}

// read reads the body of a write.
func (c *call) read(w http.ResponseWriter, r *http.Request) *refusal {
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" {
		return refuse(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType, "Content-Encoding %s: send the body without an encoding", encoding)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return tooLarge(maxBody)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return refuse(http.StatusRequestTimeout, metav1.StatusReasonTimeout, "the body wasn't complete within %s", bodyTime)
	case err != nil:
		return badRequest("body: %v", err)
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	if c.access.ctx.Err() != nil { // its end may have come before the deadline was reset
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
	given, want := r.Header.Get("Content-Type"), accepted[r.Method]
	if given == "" && r.Method != "PATCH" {
		return typeJSON, nil
	}
	found, _, err := mime.ParseMediaType(given)
	if err != nil || !slices.Contains(want, found) {
		return "", fmt.Errorf("the content type %q isn't supported: use one of %q", given, want)
	}
	return found, nil
}

// document is a JSON object with the values of its fields, not decoded further.
type document map[string]json.RawMessage

// decodeBody decodes the body of a write of a whole object, in JSON or YAML.
func (c *call) decodeBody() (document, *refusal) {
	content := bytes.TrimLeft(c.body, " \t\r\n")
	if c.contentType != typeJSON && !bytes.HasPrefix(content, []byte("{")) {
		if len(content) > maxYAML {
			return nil, tooLarge(maxYAML)
		}
		var err error
		if content, err = yaml.YAMLToJSONStrict(content); err != nil {
			return nil, badRequest("body: it isn't YAML: %v", err)
		}
	}
	object := document{}
	if err := unmarshal(content, &object); err != nil {
		return nil, badRequest("body: it isn't an object in JSON: %v", err)
	}
	if object == nil {
		return nil, badRequest("body: it isn't an object in JSON: it is null")
	}
	return object, nil
}

// unmarshal decodes JSON, and refuses fields that are there twice: readers differ in which of them counts.
func unmarshal(content []byte, into any) error {
	strict, err := kjson.UnmarshalStrict(content, into, kjson.DisallowDuplicateFields)
	return errors.Join(append(strict, err)...)
}

// encode encodes a value that can be encoded.
func encode(value any) json.RawMessage {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(fmt.Sprintf("proxy: encode %T: %v", value, err)) // the callers encode strings, decoded JSON and types of the API
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}
