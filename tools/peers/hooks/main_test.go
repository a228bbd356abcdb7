package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestExamples(t *testing.T) {
	t.Parallel()
	checkout := t.TempDir()
	if _, err := examples(checkout); err == nil || !strings.Contains(err.Error(), "name a checkout of metacontroller") {
		t.Errorf("without examples: %v", err)
	}
	dir := filepath.Join(checkout, "examples")
	for _, name := range []string{"cats", "dogs", "words", "indexedjob"} {
		write(t, filepath.Join(dir, name, "test.sh"), "")
	}
	write(t, filepath.Join(dir, "cats", "manifest", "sync.py"), "")
	write(t, filepath.Join(dir, "cats", "v1", "controller.yaml"), "url: http://cats.metacontroller/sync\nurl: http://cats.metacontroller/customize\n")
	write(t, filepath.Join(dir, "dogs", "manifest", "sync.js"), "")
	write(t, filepath.Join(dir, "dogs", "manifest", "controller.yaml"), "url: https://dogs.metacontroller:8443/sync\n")
	write(t, filepath.Join(dir, "indexedjob", "manifest", "sync.py"), "")
	got, err := examples(checkout)
	want := []example{
		{"cats", filepath.Join(dir, "cats", "manifest", "sync.py"), []string{"cats.metacontroller"}},
		{"dogs", filepath.Join(dir, "dogs", "manifest", "sync.js"), []string{"dogs.metacontroller"}},
	}
	if err != nil || !reflect.DeepEqual(want, got) {
		t.Errorf("want %v, got %v, %v", want, got, err)
	}
}

// A name in a URL leads to a local port, and another name nowhere.
func TestProxy(t *testing.T) {
	t.Parallel()
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = io.WriteString(w, r.URL.Path+" "+string(body))
	}))
	defer hook.Close()
	at, err := url.Parse(hook.URL)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(proxy(map[string]string{"cats.metacontroller": at.Port()}))
	defer server.Close()
	client := &http.Client{Transport: &http.Transport{Proxy: func(*http.Request) (*url.URL, error) { return url.Parse(server.URL) }}}
	defer client.CloseIdleConnections()
	for host, want := range map[string]string{"cats.metacontroller": "/sync cat", "dogs.metacontroller": "dogs.metacontroller: "} {
		response, err := client.Post("http://"+host+"/sync", "text/plain", strings.NewReader("cat"))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		if err != nil || response.Body.Close() != nil || !strings.HasPrefix(string(body), want) {
			t.Errorf("%s: want %q, got %q, %v", host, want, body, err)
		}
	}
}
