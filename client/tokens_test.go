package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/belfry-dev/belfry/client"
)

func ExampleClient_CreateToken() {
	c, stop := example()
	defer stop()
	ctx := context.Background()

	// The first one closes a server that was open on loopback: make it an admin's, and keep it.
	admin, err := c.CreateToken(ctx, client.NewToken{Name: "operations", Role: client.RoleAdmin})
	if err != nil {
		log.Fatal(err)
	}
	_, err = c.CreateToken(ctx, client.NewToken{Name: "shop", Role: client.RoleSubmit, Tenant: "acme"})
	fmt.Println(admin.Role, len(admin.Text), errors.Is(err, client.ErrAccess))
	// Output: admin 67 true
}

func ExampleClient_Tokens() {
	c, stop := example()
	defer stop()
	for token, err := range c.Tokens(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(token.ID, token.Name, token.Role, token.Tenant)
	}
	// Output:
}

func ExampleClient_RevokeToken() {
	c, stop := example()
	defer stop()
	err := c.RevokeToken(context.Background(), "4fTzKq0ZpLw8sXyR")
	fmt.Println(errors.Is(err, client.ErrNotFound))
	// Output: true
}
