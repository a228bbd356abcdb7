package dryrun_test

import (
	"context"
	"errors"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// asked are Webhooks; nil functions do nothing.
type asked struct {
	mutate, validate func(ctx context.Context, w *dryrun.Write) error
}

func (a asked) Mutate(ctx context.Context, w *dryrun.Write) error {
	if a.mutate == nil {
		return nil
	}
	return a.mutate(ctx, w)
}

func (a asked) Validate(ctx context.Context, w *dryrun.Write) error {
	if a.validate == nil {
		return nil
	}
	return a.validate(ctx, w)
}

func TestWebhooks(t *testing.T) {
	t.Parallel()
	t.Run("webhooks may read and write the cluster, and a write that was overtaken begins again", func(t *testing.T) {
		t.Parallel()
		var cluster *dryrun.Cluster
		var seen []string
		cluster = newCluster(t, dryrun.Ask(asked{validate: func(ctx context.Context, w *dryrun.Write) error {
			if w.Call.FieldManager == "other" || w.Old == nil {
				return nil
			}
			seen = append(seen, data(w.Old)["a"])
			if len(seen) == 1 {
				_, err := cluster.Port().Apply(ctx, settings(t, "{a: '2'}"), deploy.ApplyOptions{FieldManager: "other", Force: true})
				return err
			}
			return nil
		}}))
		apply(t, cluster, "operkit", settings(t, "{a: '1'}"))
		_, err := cluster.Port().Patch(t.Context(), settingsRef, deploy.PatchRequest{Type: "application/merge-patch+json", Body: []byte(`{"data":{"b":"3"}}`), FieldManager: "me"})
		require.NoError(t, err)
		assert.Equal(t, []string{"1", "2"}, seen, "it is asked again about the object that is there now")
		assert.Equal(t, map[string]string{"a": "2", "b": "3"}, data(get(t, cluster, settingsRef)), "nothing of either is lost")
	})
	t.Run("objects that are created meanwhile have other uids", func(t *testing.T) {
		t.Parallel()
		var cluster *dryrun.Cluster
		cluster = newCluster(t, dryrun.Ask(asked{validate: func(ctx context.Context, w *dryrun.Write) error {
			if w.Ref.Name == "inner" {
				return nil
			}
			inner := settings(t, "{}")
			inner.SetName("inner")
			_, err := cluster.Port().Create(ctx, inner, deploy.CreateOptions{FieldManager: "me"})
			return err
		}}))
		outer := apply(t, cluster, "operkit", settings(t, "{a: '1'}"))
		innerRef := settingsRef
		innerRef.Name = "inner"
		assert.NotEqual(t, outer.GetUID(), get(t, cluster, innerRef).GetUID())
	})
	for _, row := range []struct {
		reason string
		err    error
		want   any
	}{
		{"forbidden", apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "settings", errors.New("no")), new(*deploy.ForbiddenError)},
		{"invalid", apierrors.NewInvalid(settingsRef.Kind.GroupKind(), "settings", field.ErrorList{field.Required(field.NewPath("data"), "")}), new(*deploy.InvalidError)},
		{"a bad request", apierrors.NewBadRequest("no"), new(*deploy.InvalidError)},
		{"a conflict", apierrors.NewConflict(schema.GroupResource{Resource: "configmaps"}, "settings", errors.New("no")), new(*deploy.StaleError)},
		{"not found", apierrors.NewNotFound(schema.GroupResource{Resource: "configmaps"}, "settings"), new(*deploy.NotFoundError)},
		{"already exists", apierrors.NewAlreadyExists(schema.GroupResource{Resource: "configmaps"}, "settings"), new(*deploy.AlreadyExistsError)},
		{"an internal error", apierrors.NewInternalError(errors.New("no")), new(*deploy.UnavailableError)},
		{"a code above 500", &apierrors.StatusError{ErrStatus: metav1.Status{Code: 555}}, new(*deploy.UnavailableError)},
	} {
		t.Run("what a webhook refuses isn't stored, and has the error of the API server: "+row.reason, func(t *testing.T) {
			t.Parallel()
			for _, webhooks := range []asked{
				{mutate: func(context.Context, *dryrun.Write) error { return row.err }},
				{validate: func(context.Context, *dryrun.Write) error { return row.err }},
			} {
				cluster := newCluster(t, dryrun.Ask(webhooks))
				_, err := cluster.Port().Apply(t.Context(), settings(t, "{a: '1'}"), deploy.ApplyOptions{FieldManager: "operkit"})
				require.ErrorAs(t, err, row.want)
				require.ErrorIs(t, err, row.err)
				assert.Nil(t, get(t, cluster, settingsRef))
			}
		})
	}
	t.Run("a webhook can't make another object of it", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t, dryrun.Ask(asked{mutate: func(_ context.Context, w *dryrun.Write) error {
			w.Object.SetName("other")
			return nil
		}}))
		_, err := cluster.Port().Apply(t.Context(), settings(t, "{a: '1'}"), deploy.ApplyOptions{FieldManager: "operkit"})
		assert.ErrorContains(t, err, "a webhook has made another object of it")
	})
	t.Run("a deletion is asked about, and what is asked about is a copy", func(t *testing.T) {
		t.Parallel()
		no := apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "settings", errors.New("no"))
		cluster := newCluster(t, dryrun.Ask(asked{validate: func(_ context.Context, w *dryrun.Write) error {
			if w.Old != nil {
				w.Old.Object["data"] = "spoiled"
			}
			if w.Object == nil {
				return no
			}
			w.Object.Object["data"] = "spoiled"
			return nil
		}}))
		before := apply(t, cluster, "operkit", settings(t, "{a: '1'}"))
		require.ErrorIs(t, cluster.Port().Delete(t.Context(), settingsRef, deploy.DeleteOptions{}), no)
		assert.Equal(t, before, get(t, cluster, settingsRef))
	})
	t.Run("a write that is overtaken again and again ends with its context", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		var cluster *dryrun.Cluster
		n := 0
		cluster = newCluster(t, dryrun.Ask(asked{validate: func(ctx context.Context, w *dryrun.Write) error {
			if w.Call.FieldManager == "other" || w.Old == nil {
				return nil
			}
			if n++; n == 3 {
				cancel()
			}
			next := settings(t, "{}")
			_ = unstructured.SetNestedField(next.Object, string(rune('a'+n)), "data", "x")
			_, err := cluster.Port().Apply(context.WithoutCancel(ctx), next, deploy.ApplyOptions{FieldManager: "other", Force: true})
			return err
		}}))
		apply(t, cluster, "operkit", settings(t, "{a: '1'}"))
		_, err := cluster.Port().Apply(ctx, settings(t, "{a: '2'}"), deploy.ApplyOptions{FieldManager: "operkit"})
		assert.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, 3, n)
	})
}
