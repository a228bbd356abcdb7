package connect

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/tools/hooks/internal/definition"
	"github.com/operkit/operkit/tools/hooks/internal/program"
	"github.com/operkit/operkit/tools/hooks/internal/webhook"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	secrets    = schema.GroupVersionKind{Version: "v1", Kind: "Secret"}
	configMaps = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
)

// Reader reads an object from the API server, such as a deploy.Port. It returns nil if there is none.
type Reader interface {
	Get(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error)
}

// Caller calls a hook.
type Caller interface {
	Call(ctx context.Context, subject string, body []byte) ([]byte, error)
}

// Hook returns what calls a hook of a definition: a webhook, or a program, whose processes end when ctx ends.
func Hook(ctx context.Context, from Reader, of *definition.Controller, hook *definition.Hook) (Caller, error) {
	if hook.Exec != nil {
		return program.New(ctx, programOf(of.Dir, hook.Exec))
	}
	return Webhook(ctx, from, &of.Common, hook)
}

// programOf returns how a program is run whose definition is in a folder.
func programOf(dir string, e *definition.Exec) program.Config {
	config := program.Config{
		Command: e.Command, Dir: filepath.Join(dir, e.WorkingDir), Timeout: e.Timeout(), Stays: e.KeepRunning, Processes: int(e.Processes),
	}
	if filepath.IsAbs(e.WorkingDir) {
		config.Dir = e.WorkingDir
	}
	if e.Memory != nil {
		config.Memory = e.Memory.Value()
	}
	for _, variable := range e.Env {
		config.Env = append(config.Env, variable.Name+"="+variable.Value)
	}
	return config
}

// Webhook returns the webhook that a definition describes for a hook. Certificates and credentials are read once, from
// the Secrets and ConfigMaps that the definition names. The error names the object and the key, never a value.
func Webhook(ctx context.Context, from Reader, common *definition.Common, hook *definition.Hook) (*webhook.Hook, error) {
	how := hook.Webhook
	config := webhook.Config{URL: how.Address(), Timeout: how.Timeout()}
	if how.ETag != nil && how.ETag.Enabled {
		config.KeepTags, config.KeepFor = true, time.Duration(how.ETag.TimeoutSeconds)*time.Second
	}
	var err error
	connection := common.ConnectionOf(how)
	if config.TLS, err = tlsOf(ctx, from, connection); err != nil {
		return nil, fmt.Errorf("hook %s: %w", config.URL, err)
	}
	if config.Authorization, err = authorization(ctx, from, connection); err != nil {
		return nil, fmt.Errorf("hook %s: %w", config.URL, err)
	}
	return webhook.New(config)
}

func tlsOf(ctx context.Context, from Reader, c definition.Connection) (*tls.Config, error) {
	if c.CA == nil && c.ClientTLS == nil {
		return nil, nil //nolint:nilnil // the system's certificates
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if c.CA != nil {
		text, err := authority(ctx, from, c.CA)
		if err != nil {
			return nil, fmt.Errorf("caBundle: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM([]byte(text)) {
			return nil, errors.New("caBundle: no certificate in PEM")
		}
	}
	if t := c.ClientTLS; t != nil {
		values, err := values(ctx, from, deploy.Ref{Kind: secrets, Namespace: t.Secret.Namespace, Name: t.Secret.Name},
			cmp.Or(t.CertificateKey, "tls.crt"), cmp.Or(t.PrivateKey, "tls.key"))
		if err != nil {
			return nil, fmt.Errorf("clientTLS: %w", err)
		}
		certificate, err := tls.X509KeyPair([]byte(values[0]), []byte(values[1]))
		if err != nil {
			return nil, fmt.Errorf("clientTLS: Secret %s/%s: %w", t.Secret.Namespace, t.Secret.Name, err)
		}
		config.Certificates = []tls.Certificate{certificate}
	}
	return config, nil
}

// authority returns the certificates of a CA, in PEM.
func authority(ctx context.Context, from Reader, ca *definition.CA) (string, error) {
	key, kind := ca.Secret, secrets
	switch {
	case ca.Inline != nil:
		return *ca.Inline, nil
	case ca.ConfigMap != nil:
		key, kind = ca.ConfigMap, configMaps
	}
	found, err := values(ctx, from, deploy.Ref{Kind: kind, Namespace: key.Namespace, Name: key.Name}, cmp.Or(key.Key, "ca.crt"))
	if err != nil {
		return "", err
	}
	return found[0], nil
}

// authorization returns the value of the header Authorization, empty for none.
func authorization(ctx context.Context, from Reader, c definition.Connection) (string, error) {
	switch {
	case c.Authorization != nil:
		a := c.Authorization
		found, err := values(ctx, from, deploy.Ref{Kind: secrets, Namespace: a.Secret.Namespace, Name: a.Secret.Name}, a.Secret.Key)
		if err != nil {
			return "", fmt.Errorf("authorization: %w", err)
		}
		token := strings.TrimSpace(found[0])
		if token == "" || strings.ContainsAny(token, "\r\n") {
			return "", fmt.Errorf("authorization: Secret %s/%s: key %s: must be one line of text", a.Secret.Namespace, a.Secret.Name, a.Secret.Key)
		}
		return cmp.Or(a.Type, "Bearer") + " " + token, nil
	case c.Basic != nil:
		b := c.Basic
		found, err := values(ctx, from, deploy.Ref{Kind: secrets, Namespace: b.Secret.Namespace, Name: b.Secret.Name},
			cmp.Or(b.UsernameKey, "username"), cmp.Or(b.PasswordKey, "password"))
		if err != nil {
			return "", fmt.Errorf("basicAuth: %w", err)
		}
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(found[0]+":"+found[1])), nil
	}
	return "", nil
}

// values returns the values of keys of a Secret or ConfigMap.
func values(ctx context.Context, from Reader, ref deploy.Ref, keys ...string) ([]string, error) {
	obj, err := from.Get(ctx, ref)
	if err != nil {
		return nil, err
	}
	if obj == nil {
		return nil, fmt.Errorf("%s: not found: create it", ref)
	}
	data, _, err := unstructured.NestedStringMap(obj.Object, "data")
	if err != nil {
		return nil, fmt.Errorf("%s: data: must be an object of strings", ref)
	}
	all := make([]string, len(keys))
	for i, key := range keys {
		text, ok := data[key]
		if !ok {
			return nil, fmt.Errorf("%s: no key %s: add it", ref, key)
		}
		if ref.Kind == secrets {
			decoded, err := base64.StdEncoding.DecodeString(text)
			if err != nil {
				return nil, fmt.Errorf("%s: key %s: not base64", ref, key)
			}
			text = string(decoded)
		}
		all[i] = text
	}
	return all, nil
}
