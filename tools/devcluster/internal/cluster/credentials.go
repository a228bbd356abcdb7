package cluster

import (
	"fmt"
	"os"

	"github.com/operkit/operkit/tools/devcluster/internal/api"
	"github.com/operkit/operkit/tools/devcluster/internal/component"
	"github.com/operkit/operkit/tools/devcluster/internal/kubeconfig"
	"github.com/operkit/operkit/tools/devcluster/internal/pki"
	"github.com/operkit/operkit/tools/devcluster/internal/workdir"
)

// masters is the group that may do everything, whatever RBAC says.
const masters = "system:masters"

// serviceRange is the address range of Services. Its first address is the API server's.
const (
	serviceRange = "10.0.0.0/16"
	serviceFirst = "10.0.0.1"
)

// Names of files in the folder of keys and certificates.
const (
	authorityFile = "ca"
	servingFile   = "serving"
	accountsFile  = "service-accounts"
)

// identity is the user as which a component talks to the API server. kwok is in the group of the nodes, since it acts
// as the kubelet of every node.
type identity struct {
	user   string
	groups []string
}

var identities = map[component.Name]identity{
	component.ControllerManager: {user: "system:kube-controller-manager"},
	component.Scheduler:         {user: "system:kube-scheduler"},
	component.Kwok:              {user: "kwok", groups: []string{masters}},
}

// supervisorUser is the supervisor's user name in the audit log.
const supervisorUser = "devcluster"

// createCredentials writes all keys, certificates and client configurations, and creates the supervisor's own client.
func (c *Cluster) createCredentials() error {
	authority, err := pki.NewAuthority("devcluster")
	if err != nil {
		return err
	}
	serving, err := authority.Server("devcluster", "127.0.0.1", serviceFirst, "localhost",
		"kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local")
	if err != nil {
		return err
	}
	accounts, err := pki.NewKeyPair()
	if err != nil {
		return err
	}
	dir := c.options.Dir
	err = write(map[string][]byte{
		dir.PKI(authorityFile + ".crt"): authority.Pair().Certificate,
		dir.PKI(authorityFile + ".key"): authority.Pair().Key,
		dir.PKI(servingFile + ".crt"):   serving.Certificate,
		dir.PKI(servingFile + ".key"):   serving.Key,
		dir.PKI(accountsFile + ".key"):  accounts.Private,
		dir.PKI(accountsFile + ".pub"):  accounts.Public,
	})
	if err != nil {
		return err
	}
	if err := c.createKubeconfigs(authority); err != nil {
		return err
	}
	own, err := authority.Client(supervisorUser, masters)
	if err != nil {
		return err
	}
	c.client, err = api.NewClient(c.server(), authority.Pair().Certificate, own)
	return err
}

func (c *Cluster) createKubeconfigs(authority *pki.Authority) error {
	files := map[string]identity{c.options.Dir.Kubeconfig(): {user: "admin", groups: []string{masters}}}
	for name, who := range identities {
		if c.options.Components.Has(name) {
			files[c.kubeconfigOf(name)] = who
		}
	}
	if c.options.Components.Has(component.ControllerManager) {
		files[c.options.Dir.RunFile(provisionerKubeconfig)] = identity{user: provisionerUser, groups: []string{masters}}
	}
	for path, who := range files {
		content, err := clientConfig(authority, c.server(), who.user, who.groups...)
		if err != nil {
			return err
		}
		if err := write(map[string][]byte{path: content}); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) kubeconfigOf(n component.Name) string {
	return c.options.Dir.RunFile(string(n) + ".kubeconfig")
}

// Kubeconfig returns a client configuration for a user of the cluster in dir, with a new certificate from the cluster's
// authority. The configuration is valid until the cluster ends, since each start creates another authority.
func Kubeconfig(dir workdir.Dir, server, user string, groups ...string) ([]byte, error) {
	certificate, err := os.ReadFile(dir.PKI(authorityFile + ".crt"))
	if err != nil {
		return nil, fmt.Errorf("certificate authority: %w", err)
	}
	key, err := os.ReadFile(dir.PKI(authorityFile + ".key"))
	if err != nil {
		return nil, fmt.Errorf("certificate authority: %w", err)
	}
	authority, err := pki.LoadAuthority(pki.Pair{Certificate: certificate, Key: key})
	if err != nil {
		return nil, err
	}
	return clientConfig(authority, server, user, groups...)
}

func clientConfig(authority *pki.Authority, server, user string, groups ...string) ([]byte, error) {
	pair, err := authority.Client(user, groups...)
	if err != nil {
		return nil, err
	}
	return kubeconfig.Marshal(kubeconfig.Config{
		Server: server, Authority: authority.Pair().Certificate,
		User: user, Certificate: pair.Certificate, Key: pair.Key,
	})
}

// write writes files that only the owner can read.
func write(files map[string][]byte) error {
	for path, content := range files {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return fmt.Errorf("cluster directory: %w", err)
		}
	}
	return nil
}
