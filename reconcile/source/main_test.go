package source

import (
	"sync"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/testlog"
	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	widgets    = schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Widget"}
	configMaps = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
)

func key(name string) deploy.Ref { return deploy.Ref{Namespace: "shop", Name: name} }

// target keeps what it is told.
type target struct {
	mu      sync.Mutex
	known   []deploy.Ref
	brought []string
	failed  []string
}

func (t *target) Bring(keys ...deploy.Ref) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, key := range keys {
		t.brought = append(t.brought, key.Name)
	}
}

func (t *target) Keys() []deploy.Ref {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.known
}

func (t *target) Failed(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failed = append(t.failed, err.Error())
}

// taken are the names that were brought, and the failures that were told, since the last look.
func (t *target) taken() (brought, failed []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, text := range t.failed {
		failed = append(failed, testlog.WithoutLines(text))
	}
	brought, t.brought, t.failed = t.brought, nil, nil
	return brought, failed
}
