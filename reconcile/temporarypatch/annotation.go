package temporarypatch

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// entry is what the annotation says of one patch. The generation is there for edits of the patch to bring
// the target to reconcile (spec: patches 11, mistake 2).
type entry struct {
	Timestamp  string `json:"timestamp"`
	APIVersion string `json:"api_version"`
	Kind       string `json:"kind,omitempty"`
	Generation int64  `json:"generation,omitempty"`
	UID        string `json:"uid,omitempty"`
}

// entries is the annotation: raw, so that what isn't understood stays as it is when another entry changes.
type entries map[string]json.RawMessage

// parseEntries reads the annotation of a resource, empty if there is none. One that is no JSON object is an
// error.
func parseEntries(resource *unstructured.Unstructured, key string) (entries, error) {
	text := resource.GetAnnotations()[key]
	if text == "" {
		return entries{}, nil
	}
	var found entries
	err := json.Unmarshal([]byte(text), &found)
	if err == nil && found == nil {
		err = errors.New("it is null")
	}
	if err != nil {
		return nil, fmt.Errorf("annotation %s of %s %s: is no JSON object: %w: correct or remove it", key, resource.GetKind(), resource.GetName(), err)
	}
	return found, nil
}

// get reads the entry of one patch. found is false when there is none, an error is one of its shape (spec:
// patches 15, mistake 9).
func (e entries) get(name string) (read entry, found bool, err error) {
	raw, found := e[name]
	if !found {
		return entry{}, false, nil
	}
	var fields struct {
		Timestamp  any    `json:"timestamp"`
		APIVersion string `json:"api_version"`
		Kind       string `json:"kind"`
		Generation any    `json:"generation"`
		UID        any    `json:"uid"`
	}
	if err := json.Unmarshal(raw, &fields); err != nil {
		return entry{}, true, fmt.Errorf("entry %s: %w", name, err)
	}
	if fields.APIVersion == "" {
		return entry{}, true, fmt.Errorf("entry %s: has no api_version", name)
	}
	read = entry{APIVersion: fields.APIVersion, Kind: fields.Kind}
	if read.Kind == "" {
		read.Kind = DefaultKind.Kind
	}
	read.Timestamp, _ = fields.Timestamp.(string)
	read.UID, _ = fields.UID.(string)
	if generation, isNumber := fields.Generation.(float64); isNumber {
		read.Generation = int64(generation)
	}
	return read, true, nil
}

func (e entries) set(name string, value entry) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("entry %s: %w", name, err)
	}
	e[name] = raw
	return nil
}

func (e entries) text() (string, error) {
	raw, err := json.Marshal(e)
	return string(raw), err
}

// kind is that of the patch which the entry is about (spec: patches 9).
func (e entry) kind() (schema.GroupVersionKind, error) {
	version, err := schema.ParseGroupVersion(e.APIVersion)
	return version.WithKind(e.Kind), err
}

// zoneless is how oper8 writes times. They are taken for UTC (spec: patches mistake 9).
const zoneless = "2006-01-02T15:04:05.999999999"

// time is when the patch was first recorded; ok is false for what is no time.
func (e entry) time() (at time.Time, ok bool) {
	for _, layout := range []string{time.RFC3339Nano, zoneless} {
		if at, err := time.Parse(layout, e.Timestamp); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

func timestamp(now time.Time) string { return now.UTC().Format(time.RFC3339Nano) }
