package connection_test

import (
	"context"
	"fmt"

	"github.com/operkit/operkit/reconcile/kit/connection"
)

// session stands for the *reconcile.Session of a Setup.
var session = secret(map[string]string{"host": "orders-rw", "port": "5432", "username": "app", "password": "p@ss/word", "dbname": "orders"})

func ExampleRead() {
	binding, err := connection.Read(context.Background(), session, connection.Source{Namespace: "shop", Secret: "db"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(binding.Address(), binding.Username, binding.Password)
	_, err = connection.Read(context.Background(), session, connection.Source{Namespace: "shop", Secret: "later"})
	fmt.Println(err)
	// Output:
	// orders-rw:5432 app ***
	// Secret shop/later isn't there yet
}

func ExampleSource() {
	binding, err := connection.Read(context.Background(), session, connection.Source{
		Namespace: "shop",
		Secret:    "db",
		Parts: map[connection.Part]connection.From{
			connection.Port:     {Value: "6432"},
			connection.Database: {Secret: "db", Key: "dbname"},
		},
		Require: []connection.Part{connection.Host, connection.Password},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(binding.Address(), binding.Database)
	// Output:
	// orders-rw:6432 orders
}

func ExampleBinding_Env() {
	binding, err := connection.Read(context.Background(), session, connection.Source{Namespace: "shop", Secret: "db"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, variable := range binding.Env("DB_") {
		fmt.Println(variable.Name, "is", variable.ValueFrom.SecretKeyRef.Key, "of", variable.ValueFrom.SecretKeyRef.Name)
	}
	// Output:
	// DB_HOST is host of db
	// DB_PORT is port of db
	// DB_USERNAME is username of db
	// DB_PASSWORD is password of db
	// DB_DATABASE is dbname of db
}

func ExampleBinding_Volume() {
	binding, err := connection.Read(context.Background(), session, connection.Source{Namespace: "shop", Secret: "db"})
	if err != nil {
		fmt.Println(err)
		return
	}
	volume, _ := binding.Volume("db", connection.Password)
	fmt.Println(volume.Name, volume.Projected.Sources[0].Secret.Items[0].Path)
	// Output:
	// db password
}

func ExampleBinding_URL() {
	binding, err := connection.Read(context.Background(), session, connection.Source{Namespace: "shop", Secret: "db"})
	if err != nil {
		fmt.Println(err)
		return
	}
	url := binding.URL("postgresql")
	fmt.Println(url)
	fmt.Println(url.Reveal())
	// Output:
	// ***
	// postgresql://app:p%40ss%2Fword@orders-rw:5432/orders
}

func ExampleBinding_S3() {
	binding, err := connection.Read(context.Background(), session, connection.Source{Namespace: "shop", Secret: "db"})
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := binding.S3("http")
	fmt.Println(text.Reveal(), err)
	// Output:
	// s3,endpoint=http://orders-rw:5432,accesskey=app,secretkey=p@ss/word,bucketsuffix=orders <nil>
}

func ExampleBinding_Objects() {
	binding, err := connection.Read(context.Background(), session, connection.Source{Namespace: "shop", Secret: "db"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, ref := range binding.Objects() {
		fmt.Println(ref.Kind.Kind, ref.Name)
	}
	// Output:
	// Secret db
}

func ExampleBinding_Address() {
	fmt.Println((&connection.Binding{Host: "2001:db8::1", Port: 5432}).Address())
	// Output:
	// [2001:db8::1]:5432
}

func ExampleHide() {
	password := connection.Hide("secret")
	fmt.Println(password, password.Reveal())
	// Output:
	// *** secret
}

func ExampleFromResource() {
	shop := map[string]any{
		"metadata": map[string]any{"name": "tea", "namespace": "shop"},
		"spec": map[string]any{"datastores": map[string]any{"postgres": map[string]any{"connection": map[string]any{
			"hostname": "orders.example.com", "port": int64(5432), "authSecretName": "db", "authSecretPasswordField": "password",
		}}}},
	}
	source, found, err := connection.FromResource(shop, "postgres", "")
	if err != nil || !found {
		fmt.Println(found, err)
		return
	}
	binding, err := connection.Read(context.Background(), session, source)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(binding.Address())
	// Output:
	// orders.example.com:5432
}
