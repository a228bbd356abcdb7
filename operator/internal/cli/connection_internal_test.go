package cli

import (
	"errors"
	"fmt"
	"net/url"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestErrorsOfAClusterSayWhatToDo(t *testing.T) {
	t.Parallel()
	c := &connection{host: "https://moon:6443"}
	refused := &url.Error{Op: "Get", URL: "https://moon:6443/api", Err: errors.New("connection refused")}
	away := &deploy.UnavailableError{Err: refused}
	stranger := &deploy.UnavailableError{Err: fmt.Errorf("it doesn't accept our credentials: %w", apierrors.NewUnauthorized("no"))}
	broken := &deploy.UnavailableError{Err: errors.New("the answer is no list")}
	unknown := &deploy.KindUnknownError{Kind: schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}}
	theirs := fmt.Errorf("setup: prices: %w", &url.Error{Op: "Get", URL: "https://prices", Err: errors.New("no such host")})
	forbidden := errors.New("component a: forbidden")
	for _, row := range []struct {
		reason             string
		err                error
		explained, advised string
	}{
		{
			"there is none", away,
			"cluster https://moon:6443: connection refused: " + advice,
			`API server unavailable: Get "https://moon:6443/api": connection refused: cluster https://moon:6443: ` + advice,
		},
		{
			"credentials", stranger,
			"cluster https://moon:6443: it doesn't accept the credentials: log in again, or choose another with --context or --kubeconfig",
			stranger.Error() + ": cluster https://moon:6443: log in again, or choose another with --context or --kubeconfig",
		},
		{
			"something else answers", broken,
			"cluster https://moon:6443: API server unavailable: the answer is no list: " + advice,
			"API server unavailable: the answer is no list: cluster https://moon:6443: " + advice,
		},
		{"a kind that isn't there", unknown, unknown.Error() + ": apply its CustomResourceDefinition", unknown.Error() + ": apply its CustomResourceDefinition"},
		{"what needs no advice", forbidden, forbidden.Error(), forbidden.Error()},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			assert.EqualError(t, c.explained(row.err), row.explained)
			assert.EqualError(t, c.advised(row.err), row.advised)
			assert.ErrorIs(t, c.advised(row.err), row.err)
		})
	}
	t.Run("what a controller asks of others isn't the cluster's", func(t *testing.T) {
		t.Parallel()
		assert.Equal(t, theirs, c.advised(theirs))
	})
	t.Run("of several things none is left out", func(t *testing.T) {
		t.Parallel()
		assert.ErrorContains(t, c.advised(errors.Join(forbidden, away)), "component a: forbidden\nAPI server unavailable: ")
	})
}
