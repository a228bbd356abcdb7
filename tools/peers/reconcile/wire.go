package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// wire is an API server of kind without objects and without a network. The benchmark writes the events of its watch.
type wire struct {
	// watches gets each watch once it is in sync.
	watches chan io.Writer
}

func newWire() *wire { return &wire{watches: make(chan io.Writer, 1)} }

func (w *wire) config() *rest.Config { return &rest.Config{Host: "http://wire", Transport: w} }

// shops is the resource of kind.
const shops = "shops"

// RoundTrip implements http.RoundTripper.
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	group := &metav1.APIGroup{Name: kind.Group, Versions: []metav1.GroupVersionForDiscovery{{GroupVersion: kind.GroupVersion().String(), Version: kind.Version}}}
	group.PreferredVersion = group.Versions[0]
	answers := map[string]any{
		"/api":                                  &metav1.APIVersions{},
		"/apis":                                 &metav1.APIGroupList{Groups: []metav1.APIGroup{*group}},
		"/apis/" + kind.GroupVersion().String(): served(kind.GroupVersion().String(), kind.Kind, shops),
		"/apis/" + kind.GroupVersion().String() + "/" + shops: map[string]any{
			"apiVersion": kind.GroupVersion().String(), "kind": kind.Kind + "List", "metadata": map[string]any{"resourceVersion": "1"}, "items": []any{},
		},
	}
	answer, ok := answers[r.URL.Path]
	switch {
	case !ok:
		return response(http.StatusNotFound, io.NopCloser(&bytes.Buffer{})), nil
	case r.URL.Query().Has("watch"):
		return response(http.StatusOK, w.watch(r)), nil
	}
	body, err := json.Marshal(answer)
	return response(http.StatusOK, io.NopCloser(bytes.NewReader(body))), err
}

func response(status int, body io.ReadCloser) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: body}
}

// watch begins a watch. It ends with the context of the request.
func (w *wire) watch(r *http.Request) io.ReadCloser {
	reader, writer := io.Pipe()
	go func() {
		if r.URL.Query().Has("sendInitialEvents") {
			_, _ = writer.Write(allSentLine())
		}
		w.watches <- writer
		<-r.Context().Done()
		_ = writer.CloseWithError(r.Context().Err())
	}()
	return reader
}

func allSentLine() []byte {
	mark := resource()
	mark.SetResourceVersion("1")
	mark.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	return line("BOOKMARK", mark)
}

// line is an event of a watch.
func line(event string, object any) []byte {
	text, err := json.Marshal(map[string]any{"type": event, "object": object})
	if err != nil {
		panic(err)
	}
	return append(text, '\n')
}
