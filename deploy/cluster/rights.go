package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// rightsMemory is how long an answer about a right is reused. So a thousand objects that are refused for the same
	// reason cost no more reviews than one.
	rightsMemory = time.Minute
	// reviewsAtOnce bounds the reviews that are requested at once.
	reviewsAtOnce = 8
)

var reviewKind = authorizationv1.SchemeGroupVersion.WithKind("SelfSubjectAccessReview")

// rights remembers which rights this process has.
type rights struct {
	mu    sync.Mutex
	known map[authorizationv1.ResourceAttributes]reviewed
}

// reviewed is the API server's answer about a right, at a time.
type reviewed struct {
	allowed bool
	at      time.Time
}

// MissingRights implements deploy.RightsView, by a SelfSubjectAccessReview for each verb, resource and namespace.
func (s *store) MissingRights(ctx context.Context, wanted []deploy.Right) (deploy.Rules, error) {
	all := map[authorizationv1.ResourceAttributes]bool{}
	for _, right := range wanted {
		found, err := s.resources.of(ctx, right.Kind)
		if _, unserved := errors.AsType[*deploy.KindUnknownError](err); unserved {
			continue
		}
		if err != nil {
			return nil, err
		}
		names := right.Names
		if len(names) == 0 {
			names = []string{""}
		}
		for _, namespace := range s.grantedIn(found, right.Namespace) {
			for _, verb := range right.Verbs {
				for _, name := range names {
					all[authorizationv1.ResourceAttributes{
						Namespace: namespace, Verb: verb, Group: found.Group, Resource: found.Resource, Subresource: right.Subresource, Name: name,
					}] = true
				}
			}
		}
	}
	missing, err := s.refused(ctx, slices.Collect(maps.Keys(all)))
	if err != nil {
		return nil, fmt.Errorf("review rights: %w", err)
	}
	return missing.Merged(), nil
}

// refused returns a rule for each of the given rights that this process doesn't have.
func (s *store) refused(ctx context.Context, all []authorizationv1.ResourceAttributes) (deploy.Rules, error) {
	allowed, failures := make([]bool, len(all)), make([]error, len(all))
	var running sync.WaitGroup
	turns := make(chan struct{}, reviewsAtOnce)
	for i := range all {
		turns <- struct{}{}
		running.Go(func() {
			defer func() { <-turns }()
			allowed[i], failures[i] = s.allowed(ctx, all[i])
		})
	}
	running.Wait()
	missing := deploy.Rules{}
	for i, attributes := range all {
		if !allowed[i] {
			missing[attributes.Namespace] = append(missing[attributes.Namespace], ruleFor(attributes))
		}
	}
	return missing, errors.Join(failures...)
}

// ruleFor returns the rule that grants a right.
func ruleFor(attributes authorizationv1.ResourceAttributes) rbacv1.PolicyRule {
	resource := attributes.Resource
	if attributes.Subresource != "" {
		resource += "/" + attributes.Subresource
	}
	rule := rbacv1.PolicyRule{APIGroups: []string{attributes.Group}, Resources: []string{resource}, Verbs: []string{attributes.Verb}}
	if attributes.Name != "" {
		rule.ResourceNames = []string{attributes.Name}
	}
	return rule
}

// grantedIn returns the namespaces in which a right is needed; "" stands for a ClusterRole. If all namespaces are
// watched, a ClusterRole is needed anyway.
func (s *store) grantedIn(found resource, namespace string) []string {
	current, _ := s.scope.of(found.scope)
	switch {
	case current.names[""]:
		return []string{""}
	case namespace != "":
		return []string{namespace}
	}
	return slices.Sorted(maps.Keys(current.names))
}

// allowed asks the API server whether this process has a right, unless the answer is known.
func (s *store) allowed(ctx context.Context, attributes authorizationv1.ResourceAttributes) (bool, error) {
	now := time.Now()
	s.rights.mu.Lock()
	known, ok := s.rights.known[attributes]
	s.rights.mu.Unlock()
	if ok && now.Sub(known.at) < rightsMemory {
		return known.allowed, nil
	}
	allowed, err := s.requests.review(ctx, attributes)
	if err != nil {
		return false, err
	}
	s.rights.mu.Lock()
	defer s.rights.mu.Unlock()
	if s.rights.known == nil {
		s.rights.known = map[authorizationv1.ResourceAttributes]reviewed{}
	}
	maps.DeleteFunc(s.rights.known, func(_ authorizationv1.ResourceAttributes, r reviewed) bool { return now.Sub(r.at) >= rightsMemory })
	s.rights.known[attributes] = reviewed{allowed, now}
	return allowed, nil
}

// review sends a SelfSubjectAccessReview.
func (r *requests) review(ctx context.Context, attributes authorizationv1.ResourceAttributes) (bool, error) {
	at := resource{
		GroupVersionResource: reviewKind.GroupVersion().WithResource("selfsubjectaccessreviews"), scope: deploy.ClusterScoped,
	}
	body, err := json.Marshal(authorizationv1.SelfSubjectAccessReview{
		TypeMeta: metav1.TypeMeta{APIVersion: reviewKind.GroupVersion().String(), Kind: reviewKind.Kind},
		Spec:     authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &attributes},
	})
	if err != nil {
		return false, err
	}
	ref := deploy.Ref{Kind: reviewKind}
	answer, err := r.sendTo(ctx, ref, r.client.Post().Body(body), failed{verb: "create", resource: at, ref: ref})
	if err != nil {
		return false, err
	}
	status, _ := answer.object.Object["status"].(map[string]any)
	allowed, _ := status["allowed"].(bool)
	return allowed, nil
}
