package bystander_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/operkit/operkit/deploy/bystander"
	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	configMaps  = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	services    = schema.GroupVersionKind{Version: "v1", Kind: "Service"}
	namespaces  = schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}
	deployments = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
)

// recorder is a test of which only notes are taken.
type recorder struct {
	ctx     context.Context
	message string
}

var _ bystander.T = (*recorder)(nil)

func (*recorder) Helper()                    {}
func (r *recorder) Context() context.Context { return r.ctx }
func (r *recorder) Fatalf(format string, args ...any) {
	r.message = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// failure is how what somebody does fails their test, empty if it doesn't.
func failure(t *testing.T, do func(t bystander.T)) string {
	t.Helper()
	r := &recorder{ctx: t.Context()}
	done := make(chan struct{})
	go func() {
		defer close(done)
		do(r)
	}()
	<-done
	return r.message
}
