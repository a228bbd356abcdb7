package dryrun_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var settingsRef = deploy.Ref{Kind: configMap, Namespace: "shop", Name: "settings"}

// attempt applies the settings and returns the error.
func attempt(ctx context.Context, t *testing.T, c *dryrun.Cluster) error {
	t.Helper()
	_, err := c.Port().Apply(ctx, settings(t, "{a: '1'}"), deploy.ApplyOptions{FieldManager: "operkit"})
	return err
}

func TestFaultsAreTheErrorsOfACluster(t *testing.T) {
	t.Parallel()
	contested := []deploy.FieldConflict{{Field: ".data.a", Manager: "hpa", Message: `conflict with "hpa"`}}
	for name, test := range map[string]struct {
		fault dryrun.Fault
		is    func(error) bool
		want  error
	}{
		"400":                               {dryrun.Fault{Code: 400}, apierrors.IsBadRequest, &deploy.InvalidError{Ref: settingsRef}},
		"401, since a token may be renewed": {dryrun.Fault{Code: 401}, apierrors.IsUnauthorized, &deploy.UnavailableError{Ref: settingsRef}},
		"403": {dryrun.Fault{Code: 403}, apierrors.IsForbidden, &deploy.ForbiddenError{
			Verb: "patch", Resource: schema.GroupResource{Resource: "configmaps"}, Namespace: "shop", Name: "settings"}},
		"404":                             {dryrun.Fault{Code: 404}, apierrors.IsNotFound, &deploy.NotFoundError{Ref: settingsRef}},
		"409 of a resourceVersion":        {dryrun.Fault{Code: 409}, apierrors.IsConflict, &deploy.StaleError{Ref: settingsRef}},
		"409 of contested fields":         {dryrun.Fault{Code: 409, Fields: contested}, apierrors.IsConflict, &deploy.ConflictError{Ref: settingsRef, Fields: contested}},
		"422":                             {dryrun.Fault{Code: 422}, apierrors.IsInvalid, &deploy.InvalidError{Ref: settingsRef}},
		"429 with Retry-After":            {dryrun.Fault{Code: 429, RetryAfter: time.Second}, apierrors.IsTooManyRequests, &deploy.UnavailableError{Ref: settingsRef, RetryAfter: time.Second}},
		"500":                             {dryrun.Fault{Code: 500}, apierrors.IsInternalError, &deploy.UnavailableError{Ref: settingsRef}},
		"503":                             {dryrun.Fault{Code: 503}, apierrors.IsServiceUnavailable, &deploy.UnavailableError{Ref: settingsRef}},
		"504, a timeout":                  {dryrun.Fault{Code: 504}, apierrors.IsTimeout, &deploy.UnavailableError{Ref: settingsRef}},
		"410, for which there is no type": {dryrun.Fault{Code: 410}, apierrors.IsResourceExpired, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := newCluster(t)
			require.NoError(t, cluster.Fail(test.fault))
			err := attempt(t.Context(), t, cluster)
			require.Error(t, err)
			assert.True(t, test.is(err), "%v", err)
			if test.want != nil {
				assert.IsType(t, test.want, err)
				assert.Equal(t, test.want, withoutCause(err))
			}
			assert.Empty(t, cluster.Objects(), "nothing is written")
		})
	}
}

// withoutCause is an error of package deploy without the one that it wraps.
func withoutCause(err error) error {
	switch e := err.(type) {
	case *deploy.InvalidError:
		e.Err = nil
	case *deploy.UnavailableError:
		e.Err = nil
	case *deploy.ForbiddenError:
		e.Err = nil
	case *deploy.NotFoundError:
		e.Err = nil
	case *deploy.StaleError:
		e.Err = nil
	case *deploy.ConflictError:
		e.Err = nil
	}
	return err
}

func TestFaultsChooseTheirRequests(t *testing.T) {
	t.Parallel()
	down := func(f dryrun.Fault) dryrun.Fault { f.Code = 500; return f }
	for name, test := range map[string]struct {
		fault dryrun.Fault
		met   string
	}{
		"the zero value meets all but discovery": {dryrun.Fault{}, "get list watch create update patch apply delete status"},
		"a verb":                                 {dryrun.Fault{Verb: "get"}, "get"},
		"patch is an apply too":                  {dryrun.Fault{Verb: "patch"}, "patch apply status"},
		"an apply alone":                         {dryrun.Fault{Verb: "apply"}, "apply"},
		"discovery":                              {dryrun.Fault{Verb: dryrun.VerbDiscover}, "scope kinds"},
		"a kind":                                 {dryrun.Fault{Kind: configMap}, "get list watch create update patch apply delete status"},
		"a kind without version":                 {dryrun.Fault{Verb: dryrun.VerbList, Kind: schema.GroupVersionKind{Kind: "ConfigMap"}}, "list"},
		"another kind":                           {dryrun.Fault{Kind: deployment}, ""},
		"another version":                        {dryrun.Fault{Kind: schema.GroupVersionKind{Version: "v2", Kind: "ConfigMap"}}, ""},
		"a name":                                 {dryrun.Fault{Name: "settings"}, "get create update patch apply delete status"},
		"another name":                           {dryrun.Fault{Name: "other"}, ""},
		"a namespace":                            {dryrun.Fault{Namespace: "shop", Verb: dryrun.VerbList}, "list"},
		"another namespace":                      {dryrun.Fault{Namespace: "bank"}, ""},
		"a subresource":                          {dryrun.Fault{Subresource: "status"}, "status"},
		"after as many have passed":              {dryrun.Fault{After: 7}, "delete status"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := newCluster(t, dryrun.Objects(settings(t, "{}")))
			require.NoError(t, cluster.Fail(down(test.fault)))
			var met []string
			for _, call := range everyRequest(t, cluster) {
				if err := call.send(); err != nil && apierrors.IsInternalError(err) {
					met = append(met, call.name)
				}
			}
			assert.Equal(t, test.met, strings.Join(met, " "))
			cluster.Heal()
			_, err := cluster.Port().Scope(t.Context(), configMap)
			require.NoError(t, err)
			require.NoError(t, attempt(t.Context(), t, cluster))
			cluster.Wait()
		})
	}
}

type namedCall struct {
	name string
	send func() error
}

func everyRequest(t *testing.T, c *dryrun.Cluster) []namedCall {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	port := requests(c)
	edit := deploy.PatchRequest{Type: "application/merge-patch+json", Body: []byte(`{"data":{"x":"y"}}`)}
	versioned := settings(t, "{}")
	versioned.SetResourceVersion("1")
	return []namedCall{
		{"scope", func() error { _, err := port.Scope(t.Context(), configMap); return err }},
		{"kinds", func() error { _, err := port.Kinds(t.Context(), "cm"); return err }},
		{"get", func() error { _, err := port.Get(t.Context(), settingsRef); return err }},
		{"list", func() error {
			_, err := port.List(t.Context(), configMap, "shop", deploy.ListOptions{})
			return err
		}},
		{"watch", func() error {
			defer cancel()
			_, err := c.View().Subscribe(ctx, configMap, func(deploy.Event) {})
			return err
		}},
		{"create", func() error {
			_, err := port.Create(t.Context(), settings(t, "{}"), deploy.CreateOptions{})
			return err
		}},
		{"update", func() error { _, err := port.Update(t.Context(), versioned, deploy.UpdateOptions{}); return err }},
		{"patch", func() error { _, err := port.Patch(t.Context(), settingsRef, edit); return err }},
		{"apply", func() error { return attempt(t.Context(), t, c) }},
		{"delete", func() error { return port.Delete(t.Context(), settingsRef, deploy.DeleteOptions{DryRun: true}) }},
		{"status", func() error {
			_, err := port.Patch(t.Context(), settingsRef, statusPatch(`{"status":{"a":1}}`))
			return err
		}},
	}
}

func TestFaultCounts(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	require.NoError(t, cluster.Fail(
		dryrun.Fault{Verb: dryrun.VerbPatch, After: 1, Count: 2, Code: 429, RetryAfter: time.Second},
		dryrun.Fault{Verb: dryrun.VerbPatch, Count: 1, Code: 503},
	))
	calls := cluster.Record()
	var failed []bool
	for range 5 {
		failed = append(failed, attempt(t.Context(), t, cluster) != nil)
	}
	assert.Equal(t, []bool{true, true, true, false, false}, failed, "the first fault lets one pass, which the second meets")
	assert.Len(t, calls.Calls(), 5, "requests that fail are calls")
}

func TestFaultLost(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	require.NoError(t, cluster.Fail(dryrun.Fault{Count: 1, Lost: true}))
	err := attempt(t.Context(), t, cluster)
	var unavailable *deploy.UnavailableError
	require.ErrorAs(t, err, &unavailable)
	assert.EqualError(t, err, "ConfigMap shop/settings: API server unavailable: connection ended before the response")
	assert.NotNil(t, get(t, cluster, settingsRef), "it was carried out")
}

func TestFaultLatency(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cluster := newCluster(t)
		require.NoError(t, cluster.Fail(dryrun.Fault{Count: 2, Latency: time.Minute}))
		start := time.Now()
		require.NoError(t, attempt(t.Context(), t, cluster))
		assert.Equal(t, time.Minute, time.Since(start))

		before := cluster.Objects()
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("hurry"))
		defer cancel()
		err := attempt(ctx, t, cluster)
		var late *deploy.TimeoutError
		require.ErrorAs(t, err, &late)
		require.ErrorContains(t, err, "hurry")
		assert.Equal(t, before, cluster.Objects(), "who gives up has sent nothing")
	})
}

func TestBadFaults(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fault dryrun.Fault
		says  string
	}{
		"a verb that is none":            {dryrun.Fault{Verb: "put"}, `fault 1: verb "put": unknown verb`},
		"a code that is no failure":      {dryrun.Fault{Code: 200}, "code 200: not a failure"},
		"a negative count":               {dryrun.Fault{Count: -1}, "count: must not be negative"},
		"a negative latency":             {dryrun.Fault{Latency: -1}, "duration: must not be negative"},
		"contested fields without a 409": {dryrun.Fault{Code: 500, Fields: []deploy.FieldConflict{{}}}, "only a 409 has contested fields"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := newCluster(t)
			require.ErrorContains(t, cluster.Fail(test.fault), test.says)
			require.NoError(t, attempt(t.Context(), t, cluster))
		})
	}
}

func TestRecord(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	calls := cluster.Record()
	later := cluster.Record()
	for _, call := range everyRequest(t, cluster) {
		_ = call.send()
	}
	cluster.Wait()
	var lines []string
	for _, call := range calls.Take() {
		lines = append(lines, call.String())
	}
	assert.Equal(t, []string{
		"get ConfigMap shop/settings", "list ConfigMap shop/", "create ConfigMap shop/settings", "update ConfigMap shop/settings",
		"patch ConfigMap shop/settings", "apply ConfigMap shop/settings", "delete ConfigMap shop/settings dry-run",
		"patch ConfigMap shop/settings status",
	}, lines, "neither discovery nor what watches read")

	force(t, cluster, "operkit", settings(t, "{a: '2'}"))
	later.Stop()
	merge(t, cluster, settingsRef, "kubectl", `{"data":{"a":"3"}}`)
	all := calls.Take()
	require.Len(t, all, 2)
	assert.Equal(t, "apply ConfigMap shop/settings force", all[0].String())
	assert.Equal(t, settings(t, "{a: '2'}"), all[0].Object)
	assert.Equal(t, "operkit", all[0].FieldManager)
	assert.JSONEq(t, `{"data":{"a":"3"}}`, string(all[1].Body))
	assert.Empty(t, calls.Take())
	assert.Len(t, later.Calls(), 9, "a recording that was stopped keeps what it has")
}
