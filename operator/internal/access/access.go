package access

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	authentication "k8s.io/api/authentication/v1"
	authorization "k8s.io/api/authorization/v1"
	"k8s.io/client-go/rest"
)

// Reviewer asks an API server who may read pages. It is safe for concurrent use.
type Reviewer struct {
	client *rest.RESTClient
	logger *slog.Logger
	known  verdicts
	// asking has room for those who ask the API server at once.
	asking chan struct{}

	mu sync.Mutex
	// said is when it was last said that the API server can't be asked.
	said time.Time
}

const (
	// mostAsking is how many questions there are at once, askFor how long one may take.
	mostAsking, askFor = 4, 10 * time.Second
	// quiet is how long nothing more is said of an API server that can't be asked.
	quiet = time.Minute
)

// errBusy tells that too many ask at once.
var errBusy = errors.New("too many ask at once")

// New returns a Reviewer that asks the API server of config.
func New(config *rest.Config, logger *slog.Logger) (*Reviewer, error) {
	client, err := newClient(config)
	if err != nil {
		return nil, fmt.Errorf("who may read pages: %w", err)
	}
	return &Reviewer{client: client, logger: logger, asking: make(chan struct{}, mostAsking)}, nil
}

// Protect serves pages to those who may read them. Others are told why not: 401 without a token that the API server knows, 403
// without the right, 429 when too many unknown tokens come at once, 503 when the API server can't be asked. Answers hold for a while: a minute for who may, ten seconds for who may not.
func (r *Reviewer) Protect(pages http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		token, ok := bearer(req)
		if !ok {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "show a token of a service account: Authorization: Bearer TOKEN", http.StatusUnauthorized)
			return
		}
		found, err := r.verdict(req.Context(), token, req.URL.Path, strings.ToLower(req.Method))
		switch {
		case errors.Is(err, errBusy):
			w.Header().Set("Retry-After", "1")
			http.Error(w, "too many ask at once", http.StatusTooManyRequests)
		case err != nil:
			r.tell(req, err)
			http.Error(w, "the API server can't be asked whether you may read this", http.StatusServiceUnavailable)
		case found.user == "":
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "the API server doesn't know this token", http.StatusUnauthorized)
		case !found.may:
			http.Error(w, fmt.Sprintf("%s may not %s %s: a ClusterRole has to allow that by nonResourceURLs", found.user, strings.ToLower(req.Method), req.URL.Path), http.StatusForbidden)
		default:
			pages.ServeHTTP(w, req)
		}
	})
}

// tell says in the log that the API server can't be asked, now and then. Who hangs up is no news.
func (r *Reviewer) tell(req *http.Request, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if req.Context().Err() != nil || time.Since(r.said) < quiet {
		return
	}
	r.said = time.Now()
	r.logger.Warn("nobody can be let in: the API server can't be asked", "path", req.URL.Path, "error", err)
}

func bearer(req *http.Request) (token string, ok bool) {
	scheme, token, _ := strings.Cut(req.Header.Get("Authorization"), " ")
	token = strings.TrimSpace(token)
	return token, strings.EqualFold(scheme, "Bearer") && token != ""
}

// verdict is what the API server says, or said of late.
func (r *Reviewer) verdict(ctx context.Context, token, path, verb string) (verdict, error) {
	key := sha256.Sum256([]byte(token + "\x00" + path + "\x00" + verb))
	if found, ok := r.known.get(key); ok {
		return found, nil
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
	if err == nil {
		r.known.put(key, found)
	}
	return found, err
}

func (r *Reviewer) ask(ctx context.Context, token, path, verb string) (verdict, error) {
	who := authentication.TokenReview{Spec: authentication.TokenReviewSpec{Token: token}}
	if err := r.post(ctx, "/apis/authentication.k8s.io/v1/tokenreviews", "TokenReview", &who); err != nil {
		return verdict{}, err
	}
	if !who.Status.Authenticated {
		return verdict{}, nil
	}
	user := who.Status.User
	if user.Username == "" {
		return verdict{}, errors.New("the API server names no user")
	}
	may := authorization.SubjectAccessReview{Spec: authorization.SubjectAccessReviewSpec{
		User: user.Username, UID: user.UID, Groups: user.Groups, Extra: map[string]authorization.ExtraValue{},
		NonResourceAttributes: &authorization.NonResourceAttributes{Path: path, Verb: verb},
	}}
	for key, values := range user.Extra {
		may.Spec.Extra[key] = authorization.ExtraValue(values)
	}
	if err := r.post(ctx, "/apis/authorization.k8s.io/v1/subjectaccessreviews", "SubjectAccessReview", &may); err != nil {
		return verdict{}, err
	}
	return verdict{user: user.Username, may: may.Status.Allowed}, nil
}

// post sends a review, and reads the answer into it.
func (r *Reviewer) post(ctx context.Context, path, kind string, review any) error {
	body, err := json.Marshal(review)
	if err != nil {
		return err
	}
	answer := r.client.Post().AbsPath(path).SetHeader("Content-Type", "application/json").SetHeader("Accept", "application/json").Body(body).Do(ctx)
	if err := answer.Error(); err != nil {
		return fmt.Errorf("%s: %w", kind, err)
	}
	document, err := answer.Raw()
	if err != nil {
		return fmt.Errorf("%s: %w", kind, err)
	}
	if err := json.Unmarshal(document, review); err != nil {
		return fmt.Errorf("%s: the answer can't be read: %w", kind, err)
	}
	return nil
}
