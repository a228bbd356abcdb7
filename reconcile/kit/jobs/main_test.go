package jobs_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/kit/jobs"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type (
	fields = map[string]any
	list   = []any
)

var shopKind = schema.GroupVersionKind{Group: "jobs.example.dev", Version: "v1", Kind: "Shop"}

// newTea returns a shop that wants a version.
func newTea(version string) *unstructured.Unstructured {
	return reconciletest.Resource(shopKind, "tea", fields{"version": version})
}

// migration returns a Job with fields of its spec besides the template.
func migration(spec fields) fields {
	content := fields{"template": fields{"spec": fields{"containers": list{fields{"name": "migrate", "image": "shop:1"}}}}}
	for field, value := range spec {
		content[field] = value
	}
	return fields{"apiVersion": "batch/v1", "kind": "Job", "spec": content}
}

// shop migrates for each version, unless spec.idle is true; then the ConfigMap web follows. job may be nil for the
// usual Job.
func shop(job func(s *reconcile.Session) any, opts ...jobs.Option) reconcile.Controller {
	return reconciletest.Controlling(shopKind, func(_ context.Context, s *reconcile.Session) error {
		var content any = migration(nil)
		if job != nil {
			content = job(s)
		}
		migrate := s.Use("migrate", jobs.Once(s.Version(), content, opts...))
		web := s.Add("web", fields{"apiVersion": "v1", "kind": "ConfigMap", "metadata": fields{"name": "web"}, "data": fields{"version": s.Version()}})
		if idle, _, _ := unstructured.NestedBool(s.Resource().Object, "spec", "idle"); idle {
			migrate.Disable()
		} else {
			web.After(migrate, reconcile.Ready)
		}
		return nil
	})
}

// The names of the Jobs of the shop by version, as kubectl shows them.
const (
	job1 = "Job tea-migrate-e473c72875"
	job2 = "Job tea-migrate-46da0d5b2a"
	web  = "ConfigMap web"
)

func nameIn(object string) string { _, name, _ := strings.Cut(object, " "); return name }

// want sets the version of the shop.
func want(t *testing.T, h *reconciletest.Harness, version string) {
	t.Helper()
	h.Edit("Shop tea", func(obj *unstructured.Unstructured) {
		require.NoError(t, unstructured.SetNestedField(obj.Object, version, "spec", "version"))
	})
}

// message returns why the shop isn't ready.
func message(h *reconciletest.Harness) string { return h.Condition("Shop tea", "Updating").Message }

// settledShop is a shop at version 1.
func settledShop(t *testing.T, opts ...jobs.Option) *reconciletest.Harness {
	t.Helper()
	h := reconciletest.New(t, shop(nil, opts...))
	h.Apply(newTea("1"))
	h.RunUntilSettled()
	h.Ready("Shop tea")
	return h
}

// pod puts a Pod of a Job into the cluster, with a status. a Job that isn't there counts as one that was deleted.
func pod(t *testing.T, h *reconciletest.Harness, name, job string, status fields) {
	t.Helper()
	if !h.Real() {
		h.Hold("Pod " + name)
	}
	uid := "none"
	for _, obj := range h.Memory().Objects() {
		if obj.GetKind()+" "+obj.GetName() == job {
			uid = string(obj.GetUID())
		}
	}
	h.Apply(fields{"apiVersion": "v1", "kind": "Pod",
		"metadata": fields{"name": name, "labels": fields{"batch.kubernetes.io/job-name": nameIn(job1), "batch.kubernetes.io/controller-uid": uid}},
		"spec":     fields{"restartPolicy": "Never", "containers": list{fields{"name": "migrate", "image": "shop:1"}}}})
	h.SetStatus("Pod "+name, status)
}

// ended returns the status of a container that has ended at a second of a minute.
func ended(name string, code, second int64, reason, output string) fields {
	terminated := fields{"exitCode": code, "reason": reason, "message": output, "finishedAt": fmt.Sprintf("2020-01-01T00:00:%02dZ", second)}
	return fields{"name": name, "state": fields{"terminated": terminated}}
}

// failed returns the status of a Pod that has failed.
func failed(containers ...any) fields {
	return fields{"phase": "Failed", "containerStatuses": containers}
}

// addTTL is a function of ReviseObjects that adds the trap.
func addTTL(_ context.Context, _ *reconcile.Component, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if obj.GetKind() != "Job" {
		return obj, nil
	}
	obj = obj.DeepCopy()
	return obj, unstructured.SetNestedField(obj.Object, int64(60), "spec", "ttlSecondsAfterFinished")
}
