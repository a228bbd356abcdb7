package proxy

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

const (
	// maxRequests bounds the requests of one run at the same time.
	maxRequests = 64
	// maxWritten bounds what is noted of the writes of a run.
	maxWritten = 10_000
)

var (
	errEnded  = errors.New("the run of this token has ended")
	errClosed = errors.New("proxy: closed: it gives no access any more")
)

// Grant says what a run may do.
type Grant struct {
	// Owner is the resource in whose name the run works: it needs apiVersion, kind, name and uid. The run may read,
	// patch and update it and its status.
	Owner *unstructured.Unstructured
	// ServiceAccount is who the API server takes the run for. It may be in another namespace than Owner.
	ServiceAccount types.NamespacedName
	// Kinds are the kinds whose objects the run may create, change and delete, in all their versions, as far as the
	// ServiceAccount may. None means that it may write nothing but Owner.
	Kinds []schema.GroupKind
}

// Object is one state of an object that a run has written.
type Object struct {
	Kind schema.GroupVersionKind
	// Namespace is empty for an object without one. Name is empty if the API server was to choose it, and its response
	// was lost.
	Namespace, Name string
	// UID and ResourceVersion tell the state. They are empty if the response was lost, or isn't JSON.
	UID             types.UID
	ResourceVersion string
}

// digest is the SHA-256 of a token.
type digest [sha256.Size]byte

// Access is the access of one run. It is safe for concurrent use.
type Access struct {
	proxy  *Proxy
	token  string
	digest digest
	owner  owner
	grant  Grant
	kinds  map[schema.GroupKind]bool
	// ctx ends with the access.
	ctx context.Context
	end context.CancelCauseFunc
	// bodies has a value for each body in memory.
	bodies chan struct{}

	mu      sync.Mutex
	hasEnd  bool
	count   int
	running sync.WaitGroup
	written map[Object]bool
}

// Issue gives access to a run, until End is called or the proxy ends.
func (p *Proxy) Issue(grant Grant) (*Access, error) {
	owner, err := newOwner(grant.Owner)
	if grant.ServiceAccount.Namespace == "" || grant.ServiceAccount.Name == "" {
		err = errors.Join(err, errors.New("grant: no ServiceAccount: set its namespace and its name"))
	}
	allowed := map[schema.GroupKind]bool{}
	for _, kind := range grant.Kinds {
		if kind.Kind == "" {
			err = errors.Join(err, fmt.Errorf("grant: kind %q of group %q: no kind", kind.Kind, kind.Group))
		}
		allowed[kind] = true
	}
	if err != nil {
		return nil, err
	}
	var random [32]byte
	_, _ = rand.Read(random[:]) // it never fails
	a := &Access{
		proxy: p, token: base64.RawURLEncoding.EncodeToString(random[:]),
		owner: owner, grant: grant, kinds: allowed, bodies: make(chan struct{}, maxBodies), written: map[Object]bool{},
	}
	a.digest = sha256.Sum256([]byte(a.token))
	a.ctx, a.end = context.WithCancelCause(context.Background()) // ends with End, which the end of the proxy calls
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isClosed {
		return nil, errClosed
	}
	p.accesses[a.digest] = a
	return a, nil
}

// End makes the token worthless, ends all requests under way, such as watches, and returns when they have ended. A write
// that was under way may have happened. End may be called more than once.
func (a *Access) End() {
	a.proxy.mu.Lock()
	delete(a.proxy.accesses, a.digest)
	a.proxy.mu.Unlock()
	a.mu.Lock()
	a.hasEnd = true
	a.mu.Unlock()
	a.end(errEnded)
	a.running.Wait()
}

// begin counts a request. It returns false if the access has ended or has too many requests.
func (a *Access) begin() (ok, tooMany bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.hasEnd || a.count >= maxRequests {
		return false, !a.hasEnd
	}
	a.count++
	a.running.Add(1)
	return true, false
}

func (a *Access) done() {
	a.mu.Lock()
	a.count--
	a.mu.Unlock()
	a.running.Done()
}

// Written returns the states of objects that the run has written, by kind and name, without those of its owner and of a
// dry run: at most 10 000. After End nothing is added. A write whose response was lost counts.
func (a *Access) Written() []Object {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.SortedFunc(maps.Keys(a.written), func(x, y Object) int {
		return cmp.Or(strings.Compare(x.Kind.String(), y.Kind.String()), strings.Compare(x.Namespace, y.Namespace),
			strings.Compare(x.Name, y.Name), strings.Compare(x.ResourceVersion, y.ResourceVersion))
	})
}

func (a *Access) note(object Object) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.written) < maxWritten {
		a.written[object] = true
	}
}

// Kubeconfig returns a complete kubeconfig in YAML: with the address of the proxy, the token and, as the default, the
// namespace of the owner. The token in it is a credential until End.
func (a *Access) Kubeconfig() []byte {
	const name = "proxy"
	content, err := clientcmd.Write(clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{name: {Server: a.proxy.address, CertificateAuthorityData: a.proxy.authority}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{name: {Token: a.token}},
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: name, Namespace: cmp.Or(a.owner.namespace, metav1.NamespaceDefault)}},
		CurrentContext: name,
	})
	if err != nil {
		panic(fmt.Sprintf("proxy: kubeconfig: %v", err)) // these types can be encoded
	}
	return content
}
