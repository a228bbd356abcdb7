package definition

import (
	"time"

	"github.com/operkit/operkit/tools/hooks/internal/limits"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Hooks are the hooks of a controller. Only Sync is required.
type Hooks struct {
	Sync *Hook `json:"sync,omitempty"`
	// Finalize is called in place of Sync for a parent that is being deleted.
	Finalize *Hook `json:"finalize,omitempty"`
	// Customize selects the related objects of a parent.
	Customize *Hook `json:"customize,omitempty"`
}

// Version is the version of the hook protocol.
type Version string

// The versions. They differ in the names of objects in a request, and V2 allows related objects of other namespaces.
const (
	V1 Version = "v1"
	V2 Version = "v2"
)

// Hook says how a hook is called: exactly one of Webhook and Exec is set.
type Hook struct {
	// Protocol is the version of the protocol; empty means V1.
	Protocol Version  `json:"version,omitempty"`
	Webhook  *Webhook `json:"webhook,omitempty"`
	Exec     *Exec    `json:"exec,omitempty"`
}

// Version returns the version of the protocol.
func (h *Hook) Version() Version {
	if h.Protocol == "" {
		return V1
	}
	return h.Protocol
}

// IsStrict reports whether unknown fields in a response are errors: by default in V2 only.
func (h *Hook) IsStrict() bool {
	if h.Webhook != nil && h.Webhook.ResponseMode != "" {
		return h.Webhook.ResponseMode == strict
	}
	return h.Version() == V2
}

// The values of Webhook.ResponseMode.
const (
	strict = "strict"
	loose  = "loose"
)

// Webhook is a hook that is called by HTTP: by URL, or by Service and Path.
type Webhook struct {
	URL     string           `json:"url,omitempty"`
	Service *Service         `json:"service,omitempty"`
	Path    string           `json:"path,omitempty"`
	Limit   *metav1.Duration `json:"timeout,omitempty"`
	ETag    *ETag            `json:"etag,omitempty"`
	// ResponseMode is loose or strict; empty is loose for V1 and strict for V2.
	ResponseMode string `json:"responseUnMarshallMode,omitempty"`
	Connection   `json:",inline"`
}

// Timeout returns the time limit of a call.
func (w *Webhook) Timeout() time.Duration {
	if w.Limit == nil {
		return limits.Timeout
	}
	return w.Limit.Duration
}

// Service names the Service of a hook.
type Service struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	// Port is 80 if it isn't set, and Protocol is http.
	Port     *int32  `json:"port,omitempty"`
	Protocol *string `json:"protocol,omitempty"`
}

// ETag lets a hook answer that its last response to the same parent still holds.
type ETag struct {
	Enabled bool `json:"enabled,omitempty"`
	// TimeoutSeconds is how long a response is kept; zero means as long as there is room.
	TimeoutSeconds int32 `json:"cacheTimeoutSeconds,omitempty"`
	// CleanupSeconds is accepted and has no effect: kept responses have a limit in bytes.
	CleanupSeconds int32 `json:"cacheCleanupSeconds,omitempty"`
}

// Endpoint has the settings of all webhooks of a host. A webhook with a Connection of its own has only that one.
type Endpoint struct {
	// Host is a host, or a host and a port.
	Host       string `json:"host"`
	Connection `json:",inline"`
}

// Connection says how the server of a webhook is trusted, and how it trusts the caller.
type Connection struct {
	CA            *CA            `json:"caBundle,omitempty"`
	ClientTLS     *ClientTLS     `json:"clientTLS,omitempty"`
	Authorization *Authorization `json:"authorization,omitempty"`
	Basic         *Basic         `json:"basicAuth,omitempty"`
}

// isZero reports whether nothing is set.
func (c Connection) isZero() bool { return c == Connection{} }

// CA has certificates in PEM: exactly one of its fields is set.
type CA struct {
	Inline    *string `json:"inline,omitempty"`
	Secret    *KeyRef `json:"secretRef,omitempty"`
	ConfigMap *KeyRef `json:"configMapRef,omitempty"`
}

// KeyRef names a key of a Secret or ConfigMap. The default key depends on the field.
type KeyRef struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	Key       string `json:"key,omitempty"`
}

// SecretRef names a Secret.
type SecretRef struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
}

// ClientTLS is a certificate of the caller. The keys are tls.crt and tls.key if they aren't set.
type ClientTLS struct {
	Secret         SecretRef `json:"secretRef"`
	CertificateKey string    `json:"certKey,omitempty"`
	PrivateKey     string    `json:"privateKeyKey,omitempty"`
}

// Authorization is a token in the header Authorization. Type is Bearer if it isn't set.
type Authorization struct {
	Type   string `json:"type,omitempty"`
	Secret KeyRef `json:"secretRef"`
}

// Basic is a user and a password. The keys are username and password if they aren't set.
type Basic struct {
	Secret      SecretRef `json:"secretRef"`
	UsernameKey string    `json:"usernameKey,omitempty"`
	PasswordKey string    `json:"passwordKey,omitempty"`
}
