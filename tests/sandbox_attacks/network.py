"""Attacks over sockets."""

from __future__ import annotations

import os
import socket
from pathlib import Path

from course_lib.grade import libc
from sandbox_attacks.attack import World, attack


@attack()
def connect_over_ipv4(world: World) -> object:
    return socket.create_connection(("127.0.0.1", world.port), timeout=5).close()


@attack()
def connect_over_ipv6(world: World) -> object:
    return socket.create_connection(("::1", world.port6), timeout=5).close()


@attack()
def send_a_datagram(_: World) -> object:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        return sock.sendto(b"answers", ("127.0.0.1", 9))


@attack(free=False)
def ask_a_name_server(_: World) -> object:
    return socket.getaddrinfo("example.org", 80)


@attack()
def open_a_netlink_socket(_: World) -> object:
    return socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0).close()


@attack()
def open_an_internet_socket_by_a_number_with_high_bits(_: World) -> object:
    """A filter that compares 64 bits with 2 would let it pass; the kernel looks at 32."""
    number = {"x86_64": 41}.get(os.uname().machine, 198)
    return libc.call("syscall", number, socket.AF_INET | 1 << 40, socket.SOCK_STREAM, 0)


@attack(free=False)
def open_a_raw_socket(_: World) -> object:
    return socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0).close()


@attack()
def listen_on_a_port(_: World) -> object:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()


@attack()
def connect_to_an_abstract_socket(world: World) -> object:
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect("\0" + world.abstract_socket)


@attack()
def connect_to_a_named_socket(world: World) -> object:
    """As D-Bus has one, over which a user's own programs can be started, and Docker."""
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect(world.named_socket)


@attack()
def send_to_a_named_socket(world: World) -> object:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        return sock.sendto(b"answers", world.named_socket + ".datagrams")


@attack()
def send_to_a_named_socket_through_a_pair(world: World) -> object:
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with here, there:
        return here.sendmsg([b"answers"], [], 0, world.named_socket + ".datagrams")


@attack(free=False)
def reach_docker(_: World) -> object:
    for name in ("/var/run/docker.sock", "/run/dbus/system_bus_socket", f"/run/user/{os.getuid()}/bus"):
        if Path(name).exists():
            with socket.socket(socket.AF_UNIX) as sock:
                return sock.connect(name)
    raise PermissionError("not to be seen")
