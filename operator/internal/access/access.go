package access

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"golang.org/x/time/rate"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/cache"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/rest"
)

// Reviewer asks an API server who may read pages. It is safe for concurrent use.
type Reviewer struct {
	client *rest.RESTClient
	logger *slog.Logger
	// allowed and refused hold the verdicts that are still valid. They are separate, so that many unknown tokens don't
	// push out allowed tokens.
	allowed, refused *cache.LRUExpireCache
	// asking limits the reviews that are requested at once.
	asking chan struct{}
	// failures limits the lines that are logged about failed reviews.
	failures rate.Sometimes
}

const (
	maxVerdicts = 1000
	// allowedFor and refusedFor are how long verdicts are valid.
	allowedFor, refusedFor = time.Minute, 10 * time.Second
	// maxAsking is how many reviews are requested at once, askFor how long a review may take.
	maxAsking, askFor = 4, 10 * time.Second
)

// verdict is what the API server has reported about a token.
type verdict struct {
	// user is empty for an unknown token.
	user    string
	allowed bool
}

// errBusy is the error when too many reviews are requested at once.
var errBusy = errors.New("too many reviews at once")

// New returns a Reviewer that asks the API server of config.
func New(config *rest.Config, logger *slog.Logger) (*Reviewer, error) {
	scheme := runtime.NewScheme()
	utilruntime.Must(errors.Join(authenticationv1.AddToScheme(scheme), authorizationv1.AddToScheme(scheme)))
	config = rest.CopyConfig(config)
	config.ContentConfig = rest.ContentConfig{
		GroupVersion: &schema.GroupVersion{}, NegotiatedSerializer: serializer.NewCodecFactory(scheme).WithoutConversion(),
	}
	client, err := rest.UnversionedRESTClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("client for access reviews: %w", err)
	}
	return &Reviewer{
		client: client, logger: logger, asking: make(chan struct{}, maxAsking), failures: rate.Sometimes{Interval: time.Minute},
		allowed: cache.NewLRUExpireCache(maxVerdicts), refused: cache.NewLRUExpireCache(maxVerdicts),
	}, nil
}

// Protect serves pages to clients that may read them. Other clients get 401 without a token that the API server knows,
// 403 without the right, 429 when too many unknown tokens come at once, and 503 when the API server doesn't answer. A
// verdict is valid for a minute, or for ten seconds if it is a refusal.
func (r *Reviewer) Protect(pages http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		token, ok := bearer(req)
		if !ok {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "send the token of a service account: Authorization: Bearer TOKEN", http.StatusUnauthorized)
			return
		}
		found, err := r.verdict(req.Context(), token, req.URL.Path, strings.ToLower(req.Method))
		switch {
		case errors.Is(err, errBusy):
			w.Header().Set("Retry-After", "1")
			http.Error(w, "too many requests with unknown tokens", http.StatusTooManyRequests)
		case err != nil:
			if req.Context().Err() == nil { // otherwise the client has disconnected
				r.failures.Do(func() {
					r.logger.Warn("failed to ask the API server whether a client may read a page", "path", req.URL.Path, "error", err)
				})
			}
			http.Error(w, "the API server can't be asked whether you may read this", http.StatusServiceUnavailable)
		case found.user == "":
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "the API server doesn't know this token", http.StatusUnauthorized)
		case !found.allowed:
			http.Error(w, fmt.Sprintf("%s may not %s %s: allow it by nonResourceURLs in a ClusterRole", found.user, strings.ToLower(req.Method), req.URL.Path), http.StatusForbidden)
		default:
			pages.ServeHTTP(w, req)
		}
	})
}

func bearer(req *http.Request) (token string, ok bool) {
	scheme, token, _ := strings.Cut(req.Header.Get("Authorization"), " ")
	token = strings.TrimSpace(token)
	return token, strings.EqualFold(scheme, "Bearer") && token != ""
}

// verdict returns the cached verdict about a token if it is still valid, and otherwise asks the API server.
func (r *Reviewer) verdict(ctx context.Context, token, path, verb string) (verdict, error) {
	key := sha256.Sum256([]byte(token + "\x00" + path + "\x00" + verb))
	for _, known := range []*cache.LRUExpireCache{r.allowed, r.refused} {
		if found, ok := known.Get(key); ok {
			return found.(verdict), nil
		}
	}
	select {
	case r.asking <- struct{}{}:
		defer func() { <-r.asking }()
	default:
		return verdict{}, errBusy
	}
	ctx, cancel := context.WithTimeout(ctx, askFor)
	defer cancel()
	found, err := r.ask(ctx, token, path, verb)
	switch {
	case err != nil:
	case found.allowed:
		r.allowed.Add(key, found, allowedFor)
	default:
		r.allowed.Remove(key)
		r.refused.Add(key, found, refusedFor)
	}
	return found, err
}

func (r *Reviewer) ask(ctx context.Context, token, path, verb string) (verdict, error) {
	who := authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}
	if err := r.client.Post().AbsPath("/apis/authentication.k8s.io/v1/tokenreviews").Body(&who).Do(ctx).Into(&who); err != nil {
		return verdict{}, fmt.Errorf("TokenReview: %w", err)
	}
	if !who.Status.Authenticated {
		return verdict{}, nil
	}
	user := who.Status.User
	if user.Username == "" {
		return verdict{}, errors.New("the API server names no user")
	}
	may := authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: user.Username, UID: user.UID, Groups: user.Groups, Extra: map[string]authorizationv1.ExtraValue{},
		NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: path, Verb: verb},
	}}
	for key, values := range user.Extra {
		may.Spec.Extra[key] = authorizationv1.ExtraValue(values)
	}
	err := r.client.Post().AbsPath("/apis/authorization.k8s.io/v1/subjectaccessreviews").Body(&may).Do(ctx).Into(&may)
	if err != nil {
		return verdict{}, fmt.Errorf("SubjectAccessReview: %w", err)
	}
	return verdict{user: user.Username, allowed: may.Status.Allowed}, nil
}
