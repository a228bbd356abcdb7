package jobs_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/kit/jobs"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/status/readiness"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestOnce(t *testing.T) {
	t.Parallel()
	t.Run("jobs 1: a Job runs once for each value, and what waits for it follows", func(t *testing.T) {
		t.Parallel()
		h := settledShop(t)
		h.Exists(job1, web)
		want(t, h, "2")
		h.RunUntilSettled()
		h.Created(job2)
		h.Configured(web)
		h.Deleted(job1)
		h.Ready("Shop tea")
	})
	t.Run("jobs 1: a Job that is suspended isn't complete, also if suspended Jobs count as ready", func(t *testing.T) {
		t.Parallel()
		h := reconciletest.New(t, shop(func(*reconcile.Session) any { return migration(fields{"suspend": true}) }),
			reconciletest.With(reconcile.ReadyBy(readiness.Checker{SuspendedJobReady: true})))
		h.Hold(job1)
		h.Apply(newTea("1"))
		h.RunUntilSettled()
		h.SetStatus(job1, fields{"conditions": list{fields{"type": "Suspended", "status": "True"}}})
		h.RunUntilSettled()
		h.Gone(web)
		assert.Contains(t, message(h), "the Job isn't complete yet")
	})
	t.Run("jobs 2: settled, it costs no call, also after a restart", func(t *testing.T) {
		t.Parallel()
		h := settledShop(t)
		h.RunUntilSettled()
		assert.Empty(t, h.Calls())
		h.Restart()
		h.RunUntilSettled()
		h.Writes(0)
	})
	t.Run("jobs 3: a template that changes while the value stays changes nothing", func(t *testing.T) {
		t.Parallel()
		h := reconciletest.New(t, shop(func(s *reconcile.Session) any {
			image, _, _ := unstructured.NestedString(s.Resource().Object, "spec", "image")
			job := migration(nil)
			job["spec"].(fields)["template"].(fields)["spec"].(fields)["containers"].(list)[0].(fields)["image"] = image
			return job
		}))
		h.Apply(newTea("1"))
		h.RunUntilSettled()
		before := h.Get(job1)
		h.Edit("Shop tea", func(obj *unstructured.Unstructured) {
			require.NoError(t, unstructured.SetNestedField(obj.Object, "shop:other", "spec", "image"))
		})
		h.RunUntilSettled()
		h.Ready("Shop tea")
		assert.Equal(t, before, h.Get(job1))
	})
	t.Run("jobs 4: a Job that was deleted runs again, whether it had failed or not", func(t *testing.T) {
		t.Parallel()
		h := settledShop(t)
		h.Delete(job1)
		h.RunUntilSettled()
		h.Created(job1)
		h.Ready("Shop tea")
		h.Break(job2, "BackoffLimitExceeded")
		want(t, h, "2")
		h.RunUntilSettled()
		assert.Equal(t, "False", string(h.Condition("Shop tea", "Ready").Status))
		h.Release(job2)
		h.Delete(job2)
		h.RunUntilSettled()
		h.Created(job2)
		h.Configured(web)
		h.Ready("Shop tea")
	})
	t.Run("jobs 4: after a failure a new value runs", func(t *testing.T) {
		t.Parallel()
		h := reconciletest.New(t, shop(nil))
		h.Break(job1, "BackoffLimitExceeded")
		h.Apply(newTea("1"))
		h.RunUntilSettled()
		h.Gone(web)
		want(t, h, "2")
		h.RunUntilSettled()
		h.Ready("Shop tea")
		h.Gone(job1)
	})
	t.Run("jobs 5: a value that comes back runs again", func(t *testing.T) {
		t.Parallel()
		h := settledShop(t)
		want(t, h, "2")
		h.RunUntilSettled()
		want(t, h, "1")
		h.RunUntilSettled()
		h.Created(job1)
		h.Deleted(job2)
		h.Ready("Shop tea")
	})
	t.Run("jobs 5: a value that comes back after a failure runs again", func(t *testing.T) {
		t.Parallel()
		h := settledShop(t)
		h.Break(job2, "BackoffLimitExceeded")
		want(t, h, "2")
		h.RunUntilSettled()
		want(t, h, "1")
		h.RunUntilSettled()
		h.Created(job1)
		h.Gone(job2)
		h.Ready("Shop tea")
	})
	for reason, opts := range map[string][]jobs.Option{"it waits": nil, "with Replace": {jobs.Replace()}} {
		t.Run("jobs 5: a value that comes back before its Job was deleted runs again: "+reason, func(t *testing.T) {
			t.Parallel()
			h := settledShop(t, opts...)
			before := h.Get(job1).GetUID()
			h.Advance(time.Minute)
			h.Hold(job2)
			want(t, h, "2")
			_, err := h.Reconcile("Shop tea")
			require.NoError(t, err)
			h.Exists(job1, job2)
			want(t, h, "1")
			h.RunUntilSettled()
			h.Release(job2)
			h.RunUntilSettled()
			h.Ready("Shop tea")
			h.Gone(job2)
			assert.NotEqual(t, before, h.Get(job1).GetUID())
		})
	}
	for reason, status := range map[string]fields{"that is complete": complete, "that runs": running} {
		t.Run("jobs 22: the Job of a deleted resource of the same name doesn't count: one "+reason, func(t *testing.T) {
			t.Parallel()
			h := settledShop(t)
			before := h.Get(job1).GetUID()
			h.SetStatus(job1, status)
			h.Edit(job1, ofDeleted)
			h.Bring("Shop tea")
			h.RunUntilSettled()
			h.Ready("Shop tea")
			assert.NotEqual(t, before, h.Get(job1).GetUID())
			assert.Equal(t, h.Get("Shop tea").GetUID(), h.Get(job1).GetOwnerReferences()[0].UID)
		})
	}
	t.Run("jobs 22: a Job of a deleted resource that runs for another value is waited for", func(t *testing.T) {
		t.Parallel()
		h := heldShop(t)
		h.SetStatus(job1, running)
		h.Edit(job1, ofDeleted)
		want(t, h, "2")
		h.RunUntilSettled()
		h.Gone(job2)
		assert.Contains(t, message(h), "waits until Job "+nameIn(job1)+" has ended")
		h.Delete(job1)
		h.RunUntilSettled()
		h.Ready("Shop tea")
	})
	t.Run("jobs 6: a dry run and a plan have the Job", func(t *testing.T) {
		t.Parallel()
		h := reconciletest.New(t, shop(nil))
		h.Apply(newTea("1"))
		for _, rendered := range h.Render("Shop tea") {
			if rendered.Component == "migrate" {
				require.Len(t, rendered.Objects, 1)
				assert.Equal(t, nameIn(job1), rendered.Objects[0].GetName())
			}
		}
		h.Gone(job1)
	})
}

// ofDeleted makes a Job one of a deleted resource of the same name.
func ofDeleted(job *unstructured.Unstructured) {
	owner := job.GetOwnerReferences()[0]
	owner.UID = "deleted"
	job.SetOwnerReferences([]metav1.OwnerReference{owner})
}

func TestWhatIsCreated(t *testing.T) {
	t.Parallel()
	t.Run("jobs 7: what the author leaves out has defaults that keep the message of a failure", func(t *testing.T) {
		t.Parallel()
		h := settledShop(t)
		job := h.Get(job1)
		assert.Equal(t, map[string]string{"operkit.dev/once": "migrate", "operkit.dev/once-value": "1"}, job.GetLabels())
		assert.Equal(t, "1", job.GetAnnotations()["operkit.dev/once-value"])
		assert.Equal(t, fields{"backoffLimit": int64(3), "template": fields{"spec": fields{
			"restartPolicy": "Never",
			"containers":    list{fields{"name": "migrate", "image": "shop:1", "terminationMessagePolicy": "FallbackToLogsOnError"}},
		}}}, job.Object["spec"])
	})
	t.Run("jobs 7: what the author sets stays", func(t *testing.T) {
		t.Parallel()
		const text = `
apiVersion: batch/v1
kind: Job
metadata: {labels: {own: label}}
spec:
  backoffLimit: 0
  activeDeadlineSeconds: 60
  template: {spec: {restartPolicy: OnFailure, initContainers: [{name: a, terminationMessagePolicy: File}], containers: [{name: b}]}}`
		h := reconciletest.New(t, shop(func(*reconcile.Session) any { return reconcile.YAML(text) }))
		h.Apply(newTea("1"))
		h.RunUntilSettled()
		job := h.Get(job1)
		assert.Equal(t, "label", job.GetLabels()["own"])
		assert.Equal(t, fields{"backoffLimit": int64(0), "activeDeadlineSeconds": int64(60), "template": fields{"spec": fields{
			"restartPolicy":  "OnFailure",
			"initContainers": list{fields{"name": "a", "terminationMessagePolicy": "File"}},
			"containers":     list{fields{"name": "b", "terminationMessagePolicy": "FallbackToLogsOnError"}},
		}}}, job.Object["spec"])
	})
	t.Run("jobs 7: with a limit for each index the backoff limit is that of the cluster", func(t *testing.T) {
		t.Parallel()
		h := reconciletest.New(t, shop(func(*reconcile.Session) any {
			return migration(fields{"completionMode": "Indexed", "completions": int64(5), "backoffLimitPerIndex": int64(1)})
		}))
		h.Apply(newTea("1"))
		h.RunUntilSettled()
		assert.NotContains(t, h.Get(job1).Object["spec"], "backoffLimit")
	})
	t.Run("jobs 7: a Make returns the Job when the component is deployed, and its error is that of the component", func(t *testing.T) {
		t.Parallel()
		failure := request.Precondition("no image yet")
		h := reconciletest.New(t, shop(func(*reconcile.Session) any {
			return jobs.Make(func(_ context.Context, c *reconcile.Component) (any, error) {
				assert.Equal(t, "migrate", c.Name())
				return migration(nil), failure
			})
		}))
		h.Apply(newTea("1"))
		h.RunUntilSettled()
		assert.Contains(t, message(h), "no image yet")
		failure = nil
		h.Bring("Shop tea")
		h.RunUntilSettled()
		h.Created(job1)
		h.Ready("Shop tea")
	})
	for reason, row := range map[string]struct{ resource, value, base, wantName, wantLabel string }{
		"a tag of an image":        {"tea", "postgres:18", "", "tea-migrate-453b0c9d7e", "postgres-18-573af1d2"},
		"nothing that a label has": {"tea", "ü", "", "tea-migrate-54ff881b60", "x-607474ca"},
		"a name of its own":        {"tea", "1", "schema", "schema-3a9f6ebf80", "1"},
		"long names": {strings.Repeat("t", 63), strings.Repeat("v", 300), "",
			strings.Repeat("t", 52) + "-4f81482ab9", strings.Repeat("v", 54) + "-f394ee6c"},
	} {
		t.Run("jobs 8: names and labels have at most 63 characters: "+reason, func(t *testing.T) {
			t.Parallel()
			h := reconciletest.New(t, shop(func(*reconcile.Session) any {
				job := migration(nil)
				if row.base != "" {
					job["metadata"] = fields{"name": row.base}
				}
				return job
			}))
			tea := newTea(row.value)
			tea.SetName(row.resource)
			h.Apply(tea)
			h.RunUntilSettled()
			job := h.Get("Job " + row.wantName)
			assert.Equal(t, row.wantLabel, job.GetLabels()["operkit.dev/once-value"])
			assert.Equal(t, row.value, job.GetAnnotations()["operkit.dev/once-value"])
			assert.LessOrEqual(t, len(job.GetName()), 63)
		})
	}
}

func TestNamesOfTwoShops(t *testing.T) {
	t.Parallel()
	t.Run("jobs 8: two resources may have the same name for their Jobs", func(t *testing.T) {
		t.Parallel()
		h := reconciletest.New(t, shop(func(*reconcile.Session) any {
			job := migration(nil)
			job["metadata"] = fields{"name": "schema"}
			return job
		}))
		other := newTea("1")
		other.SetName("other")
		h.Apply(newTea("1"), other)
		h.RunUntilSettled()
		owners := map[string]string{}
		for _, obj := range h.Memory().Objects() {
			if obj.GetKind() == "Job" {
				owners[obj.GetOwnerReferences()[0].Name] = obj.GetName()
			}
		}
		assert.Len(t, owners, 2, owners)
	})
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		value string
		job   any
		want  string
	}{
		"the TTL trap":     {"1", migration(fields{"ttlSecondsAfterFinished": int64(60)}), "the Job has a ttlSecondsAfterFinished: leave it out: the cluster would delete the Job, and it would run again"},
		"a generated name": {"1", fields{"apiVersion": "batch/v1", "kind": "Job", "metadata": fields{"generateName": "x-"}}, "the Job has a generateName"},
		"another kind":     {"1", fields{"apiVersion": "batch/v1", "kind": "CronJob"}, "the object is a CronJob of batch/v1: pass a Job of batch/v1"},
		"two objects":      {"1", reconcile.YAML("{apiVersion: v1, kind: A}\n---\n{apiVersion: v1, kind: B}"), "the YAML has 2 objects: pass one Job"},
		"no object":        {"1", nil, "nil"},
		"deferred":         {"1", reconcile.Deferred{}, "the Job is deferred"},
		"no value":         {"", migration(nil), "empty value: pass what changes"},
		"a long value":     {strings.Repeat("v", 1025), migration(nil), "the value has 1025 bytes, more than 1024: pass a digest of it"},
	} {
		t.Run("jobs 9: "+reason+" is an error, and nothing is created", func(t *testing.T) {
			t.Parallel()
			h := reconciletest.New(t, shop(func(*reconcile.Session) any { return row.job }))
			h.Apply(newTea(row.value))
			h.RunUntilSettled()
			assert.Contains(t, message(h), "component migrate: build: jobs: ")
			assert.Contains(t, message(h), row.want)
			assert.Len(t, h.Memory().Objects(), 1, "the shop")
		})
	}
	t.Run("jobs 9: a TTL that is added later is an error, too", func(t *testing.T) {
		t.Parallel()
		h := reconciletest.New(t, shop(nil), reconciletest.With(reconcile.ReviseObjects(addTTL)))
		h.Apply(newTea("1"))
		h.RunUntilSettled()
		assert.Contains(t, message(h), "component migrate: jobs: the Job has a ttlSecondsAfterFinished")
		h.Gone(job1)
	})
	t.Run("jobs 9: a Job that has another value is an error", func(t *testing.T) {
		t.Parallel()
		h := settledShop(t)
		h.Edit(job1, func(obj *unstructured.Unstructured) {
			obj.SetAnnotations(map[string]string{"operkit.dev/once-value": "other"})
		})
		h.RunUntilSettled()
		assert.Contains(t, message(h), fmt.Sprintf("Job test/%s belongs to the value %q: delete it, or use another value than %q", nameIn(job1), "other", "1"))
	})
	t.Run("jobs 12: a mistake doesn't prevent that a component is disabled", func(t *testing.T) {
		t.Parallel()
		h := settledShop(t)
		h.Edit("Shop tea", func(obj *unstructured.Unstructured) {
			obj.Object["spec"] = fields{"version": strings.Repeat("v", 1025), "idle": true}
		})
		h.RunUntilSettled()
		h.Gone(job1)
		h.Ready("Shop tea")
	})
	t.Run("jobs 9: nil options are ignored", func(t *testing.T) {
		t.Parallel()
		h := reconciletest.New(t, shop(nil, nil, jobs.Replace()))
		h.Apply(newTea("1"))
		h.RunUntilSettled()
		h.Ready("Shop tea")
	})
}
