package crd

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/tools/devcluster/internal/api"
	"github.com/operkit/operkit/tools/devcluster/internal/pki"
)

// server plays the API server: it establishes definitions at the second question, unless their name
// says otherwise.
type server struct {
	mu    sync.Mutex
	calls []string
	asked map[string]int
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Method == http.MethodPost {
		var object struct{ Metadata struct{ Name string } }
		_ = json.NewDecoder(r.Body).Decode(&object)
		s.calls = append(s.calls, "create "+object.Metadata.Name)
		if object.Metadata.Name == "refused" {
			w.WriteHeader(http.StatusUnprocessableEntity)
			_, _ = w.Write([]byte(`{"message": "spec.scope: Required value"}`))
		}
		return
	}
	name := strings.TrimPrefix(r.URL.Path, collection+"/")
	s.asked[name]++
	condition := `{"type": "Established", "status": "False"}`
	switch {
	case name == "clashing":
		condition = `{"type": "NamesAccepted", "status": "False", "reason": "ListKindConflict", "message": "taken"}`
	case name == "never":
	case s.asked[name] > 1:
		condition = `{"type": "NamesAccepted", "status": "True"}, {"type": "Established", "status": "True"}`
	}
	_, _ = w.Write([]byte(`{"status": {"conditions": [` + condition + `]}}`))
}

func (s *server) client(t *testing.T) *api.Client {
	t.Helper()
	authority, err := pki.NewAuthority("test")
	require.NoError(t, err)
	pair, err := authority.Client("test")
	require.NoError(t, err)
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	client, err := api.NewClient(web.URL, authority.Pair().Certificate, pair)
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return client
}

func definitions(names ...string) []Definition {
	var all []Definition
	for _, name := range names {
		all = append(all, Definition{Name: name, Source: "f.yaml", Object: map[string]any{"metadata": map[string]any{"name": name}}})
	}
	return all
}

func TestInstall(t *testing.T) {
	t.Parallel()
	s := &server{asked: map[string]int{}}
	require.NoError(t, Install(t.Context(), s.client(t), definitions("a", "b")))
	slices.Sort(s.calls)
	assert.Equal(t, []string{"create a", "create b"}, s.calls)
	assert.Equal(t, map[string]int{"a": 2, "b": 2}, s.asked, "it waits for Established and no longer")
}

func TestInstallReportsEach(t *testing.T) {
	t.Parallel()
	s := &server{asked: map[string]int{}}
	err := Install(t.Context(), s.client(t), definitions("refused", "a", "clashing"))
	require.ErrorContains(t, err, "CRD refused of f.yaml: ")
	require.ErrorContains(t, err, "spec.scope: Required value")
	require.ErrorContains(t, err, "CRD clashing of f.yaml: names not accepted: ListKindConflict: taken")
	assert.NotContains(t, err.Error(), "CRD a")
	assert.Equal(t, 2, s.asked["a"], "the others are installed all the same")
}

func TestInstallEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s := &server{asked: map[string]int{}}
	client := s.client(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		for {
			s.mu.Lock()
			asked := s.asked["never"]
			s.mu.Unlock()
			if asked > 2 {
				cancel(errors.New("enough"))
				return
			}
		}
	}()
	err := Install(ctx, client, definitions("never"))
	assert.ErrorContains(t, err, "CRD never of f.yaml: ")
}
