package kubeconfig

import (
	"errors"
	"fmt"

	"sigs.k8s.io/yaml"
)

// name is the name of the cluster and of the context in the file.
const name = "devcluster"

// Config has the server to connect to and the user's credentials.
type Config struct {
	Server      string // URL of the API server
	Authority   []byte // PEM certificate of the authority that signed the server's certificate
	User        string // name of the user, for people who read the file
	Certificate []byte // PEM client certificate
	Key         []byte // PEM private key of Certificate
}

// The types below are the part of the file format that this package uses. []byte becomes base64.
type (
	file struct {
		APIVersion     string    `json:"apiVersion"`
		Kind           string    `json:"kind"`
		CurrentContext string    `json:"current-context"`
		Clusters       []cluster `json:"clusters"`
		Users          []user    `json:"users"`
		Contexts       []context `json:"contexts"`
	}
	cluster struct {
		Name    string `json:"name"`
		Cluster struct {
			Server    string `json:"server"`
			Authority []byte `json:"certificate-authority-data"`
		} `json:"cluster"`
	}
	user struct {
		Name string `json:"name"`
		User struct {
			Certificate []byte `json:"client-certificate-data"`
			Key         []byte `json:"client-key-data"`
		} `json:"user"`
	}
	context struct {
		Name    string `json:"name"`
		Context struct {
			Cluster   string `json:"cluster"`
			User      string `json:"user"`
			Namespace string `json:"namespace"`
		} `json:"context"`
	}
)

// Marshal returns the configuration as YAML.
func Marshal(c Config) ([]byte, error) {
	if c.Server == "" || c.User == "" {
		return nil, errors.New("kubeconfig: server and user must be given")
	}
	f := file{
		APIVersion: "v1", Kind: "Config", CurrentContext: name,
		Clusters: make([]cluster, 1), Users: make([]user, 1), Contexts: make([]context, 1),
	}
	f.Clusters[0].Name = name
	f.Clusters[0].Cluster.Server = c.Server
	f.Clusters[0].Cluster.Authority = c.Authority
	f.Users[0].Name = c.User
	f.Users[0].User.Certificate = c.Certificate
	f.Users[0].User.Key = c.Key
	f.Contexts[0].Name = name
	f.Contexts[0].Context.Cluster = name
	f.Contexts[0].Context.User = c.User
	f.Contexts[0].Context.Namespace = "default"
	out, err := yaml.Marshal(f)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig of %s: %w", c.User, err)
	}
	return out, nil
}
